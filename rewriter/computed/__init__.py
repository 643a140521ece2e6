"""Groups and windows of what is computed of a row: GROUP BY LEFT(k, 3), PARTITION BY v > 3.

Takes SQL as it was written, which was refused; makes streams of rows with what is computed of them,
or with what static relations say of them, whose columns are grouped, or found by, as those of any
stream. Doors: `keep_computed`, `keep_beside`.
"""
