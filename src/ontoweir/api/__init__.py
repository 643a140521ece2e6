"""src/ontoweir/api"""
