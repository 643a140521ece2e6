"""src/ontoweir/pipeline"""
