"""Copies of a match laid out in time and value, so that each optional tuple is needed by a suffix.

Takes a normal form and a failed condition; makes the rows of a candidate witness, by difference
constraints. Doors: `plan_layouts`, `construct_witness`.
"""
