"""Live runs: micro-batches of Structured Streaming, each committed by one rename.

Takes bounded queries and streams; makes published answers, metrics and a checkpoint. Rooms below:
`arrivals`, `output`, `checkpoint`, `model`. Doors: `make_live_job`, `run_live`, `await_live`,
`live_options`. Does not import `replay`.
"""
