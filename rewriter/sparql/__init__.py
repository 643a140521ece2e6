"""The SPARQL front end: text to a union of conjunctive queries, refusals with their place.

Door: `parse_query`.
"""
