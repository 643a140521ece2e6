"""The criteria: which values and waits are without a limit, as published and as extended.

Takes a normal form; makes failures, or none. [S] Th. 1; [A] Th. 5.6, 5.10, 8.5, 8.6; the lag
criterion.
"""
