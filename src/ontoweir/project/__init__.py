"""Projects: `ontoweir.toml` resolved to files and the catalog; new ones, and ones from memory.

Door: `project`.
"""
