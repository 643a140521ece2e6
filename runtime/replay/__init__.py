"""Replay of history: ranges of time side by side, merged in order.

Takes a `QueryJob` and a `ReplayRequest`; makes a file of answers and a summary. Doors: `replay`,
`replay_request`, `replay_summary`. Does not import `live`.
"""
