"""mappings/r2rml"""
