"""rewriter/sparql"""
