"""SELECTs around groups: of the rows of windows, as these groups; and of all rows so far.

Takes a query of SQL as it is written; makes one whose groups have the outer conditions in HAVING
and WHERE, and the static relations that are joined with them in FROM; or one around groups so far,
which has their HAVING; or one that numbers groups of hours within a day; or one that groups by the
time of rows that a key tells apart. Doors: `merge_groups`, `lift_having`, `nest_side`,
`number_days`, `group_times`.
"""
