"""Which columns make values without end of what is computed of a row, and how.

Takes an expression of a row's columns; says where it tends as one of these grows, and gives values
of all of them. Doors: `find_tendency`, `grow_columns`.
"""
