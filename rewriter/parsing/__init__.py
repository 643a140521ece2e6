"""SPARQL text parsed into a tree: plain SPARQL here, whatever else there is by rdflib.

Door: `parse_sparql`.
"""
