"""Tables whose columns are values of one kind, as rows with a value each; parts of a UNION.

Takes a query of SQL as it is written; makes one without UNPIVOT and without comparisons of rows of
values, in which the parts of a UNION ALL may be told apart in groups, and those of a UNION show
numbers of one type; subqueries have names, lengths of time are known for each value of a column,
and conditions and intervals are where, and as, they are read. Doors: `read_unpivots`, `open_rows`,
`widen_unions`, `spell_values`, `move_having`, `name_subqueries`, `vary_lengths`.
"""
