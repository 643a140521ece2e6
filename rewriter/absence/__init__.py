"""SPARQL that says what is beside a solution, or is not: as queries without that.

Takes the text of a query; makes texts of queries of patterns alone, and of what these are the one
query that reads their answers; or of the parts of a join of what comes and goes (`split_joined`).
Doors: `split_text`, `unite_solutions`,
`find_latest`, and `compute_matches` and `compute_solutions` for what is computed of the answers.
"""
