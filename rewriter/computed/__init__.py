"""Groups and windows of what is computed of a row: GROUP BY LEFT(k, 3), PARTITION BY v > 3.

Takes SQL as it was written, which was refused; makes streams of rows with what is computed of them,
whose columns are grouped as those of any stream. Door: `keep_computed`.
"""
