"""Rows that meet each row before them, unless others came between: one count for each kind of row.

Takes a query that reads answers beside which nothing is; says which of them are counted so, and
how many counts there are. Doors: `count_between`, `bound_begun`, `reads_directly`.
"""
