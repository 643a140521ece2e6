"""src/ontoweir/draw"""
