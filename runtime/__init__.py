"""What runs: plans of the checker over rows, for history and live, on Spark or in this process.

Rooms, from the ground up: `spark`, `pool`, `columnar`, `sources`, `text`, `statics`, `staging`,
`ingest`, `kernel`, `results`, `engine`; and above them, side by side, `replay` and `live`. Doors:
`replay.replay`, `live.run_live`, `live.await_live`, `statics.load_statics`, `spark.start_session`.
"""
