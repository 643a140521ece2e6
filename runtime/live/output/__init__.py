"""What a committed micro-batch publishes: parts of files, Kafka, and whether they are still there.

Takes committed answers; makes parts with run id and hash, and messages. Doors: `sinks`,
`write_parts`; the rest is for `live` only.
"""
