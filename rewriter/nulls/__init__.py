"""Columns of SQL that may be NULL in what a query shows.

Takes one SELECT as it is read; makes the queries in which each of some columns has a value, or is
NULL. `fold_nulls` says what a condition is where the columns of a table are NULL, `type_null` is
NULL of a type, `settle_false` says of columns what never holds. Doors: `split_nulls`,
`list_nullable`, `exclude_nulls`, `fold_nulls`, `settle_false`, `type_null`.
"""
