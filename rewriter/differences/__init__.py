"""Rows of windows less others, or beside which others are, or are not: EXCEPT, NOT EXISTS, EXISTS,
and joins with the latest row of each key.

Takes SQL as it is written; makes groups of the rows of both that hold, whose counts say how often
each is an answer. Doors: `subtract_windows`, `compare_windows`, `join_replaced`.
"""
