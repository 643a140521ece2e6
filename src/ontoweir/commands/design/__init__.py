"""Commands that show what ontology, mappings and queries mean before anything runs.

Each module adds one command (`add_check`, …), which `ontoweir.cli` lists; nothing else is a door.
"""
