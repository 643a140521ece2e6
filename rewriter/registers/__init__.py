"""Rows of static relations (a register of sensors) beside which rows of streams are, or are not.

Takes SQL as it is written; makes NOT EXISTS and EXISTS of all phrasings that mean them, and groups
of rows of which those of static relations hold for ever. Doors: `open_rows`,
`name_presence`, `pad_registers`, `count_registered`, `compare_last`, `compare_presence`,
`group_held`, `join_values`, `nest_static`.
"""
