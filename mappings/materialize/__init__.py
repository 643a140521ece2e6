"""The triples that a mapping makes of a database, as R2RML defines them.

Doors: `materialize_triples`, `make_term`.
"""
