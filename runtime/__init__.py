"""What runs: plans of the checker over rows, for history and live, on Spark or in this process.

Rooms, from the ground up: `spark`, `pool`, `columnar`, `kept`, `rdf`, `times`, `sources`, `packed`,
`text`; `statics`, `staging`, `ingest`, `lateness`; `views`, `verified`, `kernel`; `results`,
`spill`, `groups`, `engine`; `preceding`; `blocks`, `changes`; `measure`; and above them, side by
side, `replay`, `live` and `receive`. Doors: `replay.replay`, `live.run_live`, `live.await_live`,
`measure.measure_stream`, `statics.load_statics`, `spark.start_session`.
"""
