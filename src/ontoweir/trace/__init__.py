"""Witnesses written as data (`check --witness`), and the growth of state as charts.

Takes a query, a witness, or a replay that is watched; makes files and `Chart`s.
"""
