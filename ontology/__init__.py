"""ontology"""
