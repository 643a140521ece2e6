"""Rows with those before them: ASOF JOIN, LAG and moving aggregates in SQL.

Takes SQL as it is written; makes SQL over relations that change, which are declared here: the
latest row of each key of a stream; and joins of rows with those around them. Door: `read_earlier`.
"""
