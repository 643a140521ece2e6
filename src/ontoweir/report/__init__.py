"""src/ontoweir/report"""
