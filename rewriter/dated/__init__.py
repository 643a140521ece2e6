"""Nodes that have their time in their names, such as observations: all that is said of one is said
at one time. And what is said again at other times, and counts once.

Takes a SPARQL query with patterns outside of GRAPH, and the mappings; gives the query with those of
such nodes in GRAPH of that time (door: `find_dated`), or, where it was refused, with those that may
come again in a SELECT DISTINCT (`count_once`), which match the same. `close_by_names` marks sets of
answers that show such nodes with their time.
"""
