"""One replay as a scan over ranges of time.

Takes histories cut at markers; makes each range's answers and state, and folds the states into
those that the ranges after begin with. Doors: `plan_ranges`, `replay_range`, `scan_ranges`.
"""
