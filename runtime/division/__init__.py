"""Rows and answers of a query that is divided by key: what replay and live runs share.

Takes by which columns rows can be divided (checker/partition); makes the parts of rows, and of the
answers of all parts those of one. Doors: `division`, `plan_division`, `divide_rows`, `unite_parts`.
"""
