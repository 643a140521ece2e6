"""Where the answers of live runs go: a file for each sink, with its name, options, description,
publishing, and what it keeps secret.

Takes the answers of a committed micro-batch. Doors: `sinks` (those that have names), and each
sink's file. To add one: a file, and its line in `SINKS`.
"""
