"""A replay divided by key: several processes read all rows, and each keeps those of its part.

Takes what a replay runs, and by which columns its rows can be divided (checker/partition); makes
the answers of one process, in its order. Doors: `plan_division`, `scan_parts`.
"""
