"""SPARQL text as a tree: tokens with their places, and nodes named as in rdflib's grammar.

Doors: `parse_sparql`, `Node`, `Tokens`.
"""
