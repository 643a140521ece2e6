"""Expressions of one row in SQL: arithmetic, CASE, CAST, functions of texts and dates.

Takes the tree of a query and the catalog; gives a query of columns, and the catalog with those that
are derived (`derive_query_columns`).
"""
