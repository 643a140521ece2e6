"""Rows with the latest ones before them, in SPARQL: there is no other row between the two.

Takes solutions with what must not be beside them; gives those whose earlier row is that of a
relation that changes, as ASOF JOIN and LAG have it in SQL. The door is `meet_before`.
"""
