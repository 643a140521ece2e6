"""src/ontoweir/trace"""
