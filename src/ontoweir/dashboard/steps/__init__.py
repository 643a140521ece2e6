"""What a typed query answers over the history, time by time: what came, what went, what holds.

Takes a compiled query; gives the changes of its replay. Doors: `replay_steps`, `view_step`.
"""
