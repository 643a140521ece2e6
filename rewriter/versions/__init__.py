"""Relations that change: rows of streams with the version of their own time.

Takes a query over relations as of times; makes it one over streams of rows that have met their
version. Doors: `meet_versions`, `read_as_of`.
"""
