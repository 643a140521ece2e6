"""mappings"""
