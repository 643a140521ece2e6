"""Which words a new project has for its tables and columns: its own, or those of an ontology.

Takes the tables, and an ontology's file where one is given; makes `Terms`, which the ontology, the
mapping and the queries of the project are written with. Doors: `terms`, `name_terms`,
`choose_terms`.
"""
