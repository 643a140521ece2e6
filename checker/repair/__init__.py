"""Repairs: the smallest changes to a query or a catalog that make it bounded, each checked again.

Takes an unbounded verdict; makes sets of `Change`. Doors: `find_repairs`, `changes`.
"""
