"""Groups of rows of a key that follow each other: how long a machine was down, each day and each
time.

Takes a SELECT that groups rows by what stands in runs among those of a key; makes one of the last
row of each run, with what has been counted until it, which is final when a row of the next run
comes. Door: `read_windows`.
"""
