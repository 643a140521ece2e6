"""src/ontoweir/run"""
