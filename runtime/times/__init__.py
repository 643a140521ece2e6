"""Timestamps as data has them, as whole numbers of microseconds on the grid of a stream's steps.

Takes columns as a file has them; makes columns of int64, and which values are none. Doors:
`read_times`, `align_times`.
"""
