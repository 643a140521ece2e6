"""Timestamps as data has them, as whole numbers of microseconds on the grid of a stream's steps.

Takes columns as a file has them; makes columns of int64, and which values are none; counts how late
rows were (`late_rows`). Doors: `read_times`, `align_times`, `late_rows`.
"""
