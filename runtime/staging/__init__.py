"""Streams that are not Parquet in order of time, made so: once, before a replay.

Takes a declared stream; makes Parquet parts in order, and where each row came from; or keeps such
rows beside the project, as files that are mapped. Doors: `stage_stream` (through Spark),
`spool_stream` (without), `keep_rows`.
"""
