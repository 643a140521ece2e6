"""Groups of all rows so far, which others read: a stream of their changed rows, of which the latest
of each group holds.

Takes SQL as it was written, which was refused; makes a query over streams whose rows are what
becomes of groups. Doors: `keep_groups`, `declare_updates`.
"""
