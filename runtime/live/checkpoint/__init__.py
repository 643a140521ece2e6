"""The checkpoint: the state of a run and Spark's half of it, written, loaded, and taken back.

Takes a `LiveState` and a `CommitRecord`; `save_state.commit_batch` makes a folder that is there
whole or not at all, by one rename. Door for `live` only, but for `save_state.hash_parts` and
`hash_table`.
"""
