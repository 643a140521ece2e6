"""R2RML and .obda files as documents, with the line of everything.

Takes a file; makes triples maps, and those that are refused. Doors: `read_graph`, `read_r2rml`.
"""
