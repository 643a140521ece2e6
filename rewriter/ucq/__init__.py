"""Unions of conjunctive queries over an ontology: tree witnesses, hierarchies, minimal unions.

Takes a conjunctive query and a `Hierarchy`; makes the perfect rewriting. Doors:
`rewrite_existentials`, `show_ucq`.
"""
