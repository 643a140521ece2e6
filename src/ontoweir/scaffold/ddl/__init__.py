"""Tables that SQL declares, of which there is no data yet.

In: files of SQL, in the dialect of PostgreSQL or of Flink. Out: a catalog. Door: `read_ddl`.
"""
