"""R2RML and .obda files as documents, with the line of everything.

Takes a file; makes triples maps, and those that are refused. `read_turtle` and `read_obda` make a
`MappingFile` of either format, `read_r2rml` reads its triples maps, and `quote_names` the
quoted names of their SQL. Doors: `mapping_file`, `read_r2rml`, `quote_names`.
"""
