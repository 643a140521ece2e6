"""Queries whose answers another query reads: groups of buckets of time, which are final.

Their answers are a stream, whose timestamp is when an answer is final; what is declared of it
follows from the query. Door: `declare_block`.
"""
