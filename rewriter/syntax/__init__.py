"""SPARQL text: its tokens with their places, its tree in nodes named as in rdflib's grammar, and
forms that are written as others.

Doors: `Node`, `Tokens`.
"""
