"""Queries cut into queries that are decided and run on their own.

Takes a union or a normal form; makes parts, whose answers together are those of the whole: a query
without a plan is cut at dates, ranges and inequalities into parts that have plans, and an aggregate
query into a part for each set of matches.
"""
