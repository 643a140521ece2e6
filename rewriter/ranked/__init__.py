"""How groups that come and go, and rows that are joined, are numbered; rows that are numbered and
that a register chooses are joined with it.

Takes SQL and SPARQL as they are written. Doors: `read_ranked`, `split_limit`, `join_chosen`.
"""
