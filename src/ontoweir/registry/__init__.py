"""src/ontoweir/registry"""
