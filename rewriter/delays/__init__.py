"""Rows that begin to be shown some time after their own, and then are shown for ever.

Takes a query with such delays; makes it one over streams of the delayed rows, which are there at
the time from which on they are shown. Door: `delay_rows`.
"""
