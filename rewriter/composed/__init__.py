"""SPARQL of solutions that come and go by themselves, side by side: in windows, the latest of keys,
groups of such, and what is static.

Takes the text of a query; makes texts of its parts, and of the queries of these the one query of
what is joined of them, computed and grouped (`SpjUnion.joined`). Doors: `split_joined`,
`join_solutions`.
"""
