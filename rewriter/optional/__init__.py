"""OPTIONAL patterns of SPARQL as other patterns, where a query was refused.

Takes a text, and gives one of the same solutions: alternatives with the pattern and without it
(`open_optional`, which asks `drop_between` for the next row), groups of what is
beside each (`count_beside`).
"""
