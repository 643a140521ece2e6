"""mappings/sql"""
