"""src/ontoweir/edit"""
