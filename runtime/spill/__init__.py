"""Rows of synopses that memory has no room for, on disk: nothing is forgotten (`on_violation =
"spill"`).

Takes the tables of a plan after a chunk, and moves rows of them into Parquet files, sorted by the
hash of the columns by which they are looked up, each with an index of the hashes; finds those that
a chunk may join. Files are never changed, so a checkpoint names the ones that it has. Nothing here
knows queries. Doors: `spill_plan`, `spill_state`, `cold_rows`, `spill_rows`.
"""
