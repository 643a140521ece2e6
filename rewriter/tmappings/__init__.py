"""rewriter/tmappings"""
