"""Tables whose columns are values of one kind, as rows with a value each.

Takes a query of SQL as it is written; makes one without UNPIVOT, in which the
parts of a UNION ALL may be told apart in groups. Door: `read_unpivots`.
"""
