"""Joins of rows that come and go by themselves: rows of windows, the latest and the first of keys.

Takes SQL as it is written; makes a query of each part, and how their rows are joined. Door:
`join_parts`.
"""
