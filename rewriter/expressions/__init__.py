"""Expressions of SPARQL: BIND, FILTER, SELECT (… AS ?v), GROUP BY (… AS ?v), aggregates of them.

Takes rdflib's tree; keeps expressions apart from the patterns (`Computation`) until these are
unfolded, and then attaches them to each disjunct as derived columns (`attach_computation`).
"""
