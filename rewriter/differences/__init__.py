"""Rows of windows less others, or beside which others are, or are not: EXCEPT, NOT EXISTS, EXISTS,
joins with the latest row of each key, and the latest row of each key in a window.

Takes SQL as it is written; makes groups of the rows of both that hold, whose counts say how often
each is an answer. Doors: `subtract_windows`, `compare_windows`, `join_replaced`,
`last_in_window`, `join_difference`.
"""
