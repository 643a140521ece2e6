"""src/ontoweir/progress"""
