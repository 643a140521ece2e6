"""From ontology files to a TBox of OWL 2 QL and its saturated hierarchy.

Takes files, with what they import; makes a `TBox`. Room: `syntax`, files as triples. Doors:
`load_ontology`, `tbox`, `axioms`.
"""
