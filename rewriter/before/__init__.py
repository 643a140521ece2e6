"""Rows with the latest ones before them, of which it is said that no other row is between the two.

Takes solutions of SPARQL with what must not be beside them, and gives those whose earlier row is
that of a relation that changes; of SQL, NOT EXISTS as ASOF JOIN. The doors are `meet_before` and
`join_between`.
"""
