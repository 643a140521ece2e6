"""Rows of a key that follow each other: which columns, and computed values, tell such runs apart.

Takes a stream of rows with what the rows before them say; says by which of its columns the rows of
a key never fall, so that equal ones are next to each other. Doors: `list_rising_columns`,
`split_runs`.
"""
