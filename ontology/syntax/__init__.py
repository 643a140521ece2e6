"""Ontology files as RDF triples that know their line, whatever the syntax.

Takes Turtle, N-Triples, RDF/XML, OWL/XML, functional syntax, or what owlready2 holds in memory;
makes `Triples`. owlready2 and pyoxigraph stay in here. Doors: `read_triples`, `read_owlready`,
`parse_rdf`.
"""
