"""What a SELECT of SQL says of rows beside its own: EXISTS, IN, SEMI, ANTI and LEFT joins.

Takes a SELECT whose columns have their tables; makes SELECTs without that, and the parts that they
depend on. Doors: `find_absence`, `split_outer`, `is_set`, and the types of `absence_trees`.
"""
