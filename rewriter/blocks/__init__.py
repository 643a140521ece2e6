"""Queries whose answers another query reads: groups of buckets of time, which are final.

Their answers are a stream, whose timestamp is when an answer is final; what is declared of it
follows from the query. In SPARQL mappings make triples of it. Doors: `declare_block`,
`make_answers`, `read_answers`.
"""
