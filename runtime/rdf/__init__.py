"""Answers as RDF: the kind of term that each column of them has, and their text.

Takes an unfolded query, and tables of its answers; makes SPARQL's JSON (application/
sparql-results+json) and N-Quads. Doors: `find_terms`, `encode_rows`.
"""
