"""What is told of answers: changes, or what holds whenever it changes, of a query or of several,
joined.

Takes answers as they come, and what is held; gives what is written. Door: `advance_feed`.
"""
