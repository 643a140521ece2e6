"""What the data is: the catalog of streams and relations, and mappings to RDF.

Rooms, from the ground up: `model`; `sql`, `r2rml`; `catalog`, `compile`, `materialize`. Doors:
`catalog.load_catalog`, `compile.load_mappings`, `materialize.materialize_triples`, and `model` for
its data.
"""
