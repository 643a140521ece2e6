"""What runs live and what it carries from micro-batch to micro-batch, as data.

Door: `live_job`.
"""
