"""Witnesses against queries that are more than joins: their copies are matches of joins that show
what such a query does, and the whole query confirms them.

Doors: `refute_beside` (what is absent, or present, beside answers), `refute_preceding` (what rows
before a row say), `refute_standing` (rows that hold until others end them).
"""
