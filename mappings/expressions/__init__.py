"""Expressions of one row: what they hold, which values they can have, and how they are written.

Takes `Expression`s, which readers of languages make; gives values over whole Arrow columns, a
column of the catalog with a derived domain, and SQL.
"""
