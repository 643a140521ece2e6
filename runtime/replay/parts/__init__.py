"""A replay divided by key: one process reads all rows, and hands over those of other parts.

Takes what a replay runs, and by which columns its rows can be divided (checker/partition); makes
the answers of one process, in its order. Doors: `plan_division`, `scan_parts`.
"""
