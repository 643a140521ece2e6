"""src/ontoweir/files"""
