"""Nodes that have their time in their names, such as observations: all that is said of one is said
at one time.

Takes a SPARQL query with patterns of such nodes outside of GRAPH, and the mappings; gives the query
with these patterns in GRAPH of that time, which matches the same. The door is `date_nodes`.
"""
