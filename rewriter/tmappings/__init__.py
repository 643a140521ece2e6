"""Mappings with the hierarchy compiled in (T-mappings), and their assertions as queries.

Takes mappings and a TBox; makes mappings that need no hierarchy.
"""
