"""mappings/catalog"""
