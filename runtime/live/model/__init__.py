"""What runs live and what it carries from micro-batch to micro-batch, as data.

Doors: `live_job`, `describe_live`.
"""
