"""Streams that are not Parquet in order of time, made so: once, before a replay.

Takes a declared stream; makes Parquet parts in order, and where each row came from. Doors:
`stage_stream` (through Spark), `spool_stream` (without).
"""
