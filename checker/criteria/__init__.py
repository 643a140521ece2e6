"""The criteria: which values and which waits have no limit.

Takes a normal form; makes failures, or none; the sentence of each failure (the text after its
code) is made here. `decide_lag` decides; the published criteria ([S] Th. 1, 2; [A] Th. 5.6, 5.10,
8.5, 8.6) are shown next to it. `derive_lto` shows LTO queries, `is_unique` finds where DISTINCT is
not needed. Door: `decide_lag`.
"""
