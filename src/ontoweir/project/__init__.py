"""src/ontoweir/project"""
