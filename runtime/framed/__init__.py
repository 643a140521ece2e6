"""Messages in the framing of a schema registry: a zero, the id of a schema, and what it describes.

Takes keys and values of Kafka's messages, as base64; makes JSON texts of them, or says why one is
none. Doors: `open_frames`, `decode_message` (what a message is, and which schemas are asked for),
`schema_registry` (whether it answers).
"""
