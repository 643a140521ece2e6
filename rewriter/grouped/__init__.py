"""SELECTs around groups of the rows of windows, as these groups.

Takes a query of SQL as it is written; makes one whose groups have the outer conditions in HAVING
and WHERE, and the static relations that are joined with them in FROM. Door: `merge_groups`.
"""
