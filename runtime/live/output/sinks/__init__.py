"""Kinds of sinks, a file each: name, options, secrets, description and publishing.

Takes the answers of a committed micro-batch. To add one: a subclass of `MessageSink`, described by
a `SinkKind`, which `SINKS` lists. Rejected rows are no sink: they are parts of the output. Doors:
`sinks`, and each sink's file.
"""
