"""Sums of doubles of several rows, in SPARQL, which are rounded: they are computed where the rows
have met, not moved to the other side of a comparison.

Takes a text that was refused (`ComparedSumError`); gives one that says of which sums this is so.
Doors: `wrap_sums`, `is_of_several`.
"""
