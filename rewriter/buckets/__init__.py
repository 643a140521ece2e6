"""Buckets of time that queries group by: every hour, every five minutes, every month.

A bucket becomes a column of its stream that the data lacks (`Column.bucket`), so that what follows
sees a column like any other. Its values are computed from the timestamp of each row.
"""
