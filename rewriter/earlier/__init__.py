"""Rows with the one before them: ASOF JOIN and LAG in SQL.

Takes SQL as it is written; makes SQL over relations that change, which are declared here: the
latest row of each key of a stream. Door: `read_earlier`.
"""
