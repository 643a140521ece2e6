"""mappings/compile"""
