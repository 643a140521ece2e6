"""The SQL that mappings and views may use: SELECT … FROM … WHERE … over the catalog.

Takes a text; makes sources and conditions, or a refusal with its place.
"""
