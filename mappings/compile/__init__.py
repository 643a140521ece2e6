"""From documents to mapping assertions over the catalog.

Takes triples maps; makes `Assertion`s. Doors: `load_mappings`, `assert_facts`.
"""
