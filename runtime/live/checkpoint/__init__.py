"""The checkpoint: the state of a run and Spark's half of it, written, loaded, and taken back.

Takes a `LiveState` and a `CommitRecord`; makes folders that are there whole or not at all. Door for
`live` only, but for `save_state.VERSION`.
"""
