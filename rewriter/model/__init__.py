"""The data of rewriting: conjunctive queries, SPJ queries, aggregations, and a budget of work.

Every room, and the checker, may import it.
"""
