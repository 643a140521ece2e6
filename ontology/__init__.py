"""From ontology files to a TBox of OWL 2 QL and its saturated hierarchy.

Doors: `load_ontology`, `tbox`. owlready2 stays in here.
"""
