"""The data of a project: catalog, column types, mapping assertions, durations, TOML with places.

Every room, and every folder above, may import it.
"""
