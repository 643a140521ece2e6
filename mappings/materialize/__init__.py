"""mappings/materialize"""
