"""Rows that meet each row before them, unless others came between: one count for each kind of row.

Takes a query that reads answers beside which nothing is; says which of them are counted so, and
how many counts there are. What both rows are compared by is asked of the answers where they are
read (`lift_comparisons`). Doors: `align_hits`, `count_between`, `read_compared`, `bound_begun`,
`reads_directly`.
"""
