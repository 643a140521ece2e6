"""Queries cut into queries that are decided and run on their own: aggregates, ranges, dates.

Takes a union or a normal form; makes parts, whose answers together are those of the whole.
"""
