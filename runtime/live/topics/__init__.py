"""Kafka's messages for an intake: each read once, whatever number of queries reads its topic.

Takes offsets and the columns that queries read; makes tables of rows by what is read. What Spark
hands over is used where it is what is asked for, and read again by offsets where a query is behind.
Whether a source, also one of files, can be read at all is asked before it is shared
(`probe_source`). Doors for `intake` and `run_intake`, and for projects that begin with a topic's
first messages (`sample_topic`).
"""
