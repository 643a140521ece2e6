"""Rows that hold from one time to another: what is true of them at each.

Doors: `Spans`, `keep_latest`, `join_spans`, and the sums and extremes of running_spans.
"""
