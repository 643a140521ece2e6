"""Counterexamples against any query of which what is told of a key is made of its own rows alone.

Takes a query, rows and a time; says which answers hold then, computed naively of what the query is
(blocks, rows that hold until others end them, groups, joins of what comes and goes). Doors:
`find_keys`, `hold_naively`, `confirm_keyed`. Shares nothing with plans or the run-time; what is not
computed here is not known (`UnknownAnswerError`), and nothing is refuted by it.
"""
