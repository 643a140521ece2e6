"""Rows of a key that follow each other: which columns, and computed values, tell such runs apart.

Takes a stream of rows with what the rows before them say; says by which of its columns the rows of
a key never fall, so that equal ones are next to each other. Doors: `split_runs`,
`list_rising_columns`, `is_in_order`; `list_pinned` says which columns a condition lets have one
value.
"""
