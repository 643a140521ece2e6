"""Replay of history: ranges of time side by side, merged in order.

Takes a `QueryJob` and where its history is; makes a file of answers and a summary. Door: `replay`
(and `replay_job` for what it tells). Does not import `live`.
"""
