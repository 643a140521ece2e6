"""What arrives in a micro-batch: files and partitions, opened, read, and taken in.

Takes Spark's offsets and logs of files; makes tables of rows by stream, late and repeated ones set
aside. Door for `live` only.
"""
