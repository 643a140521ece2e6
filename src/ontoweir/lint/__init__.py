"""src/ontoweir/lint"""
