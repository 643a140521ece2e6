"""Commands that run queries: over history, live, and registered with a server.

Each module adds one command (`add_replay`, …), which `ontoweir.cli` lists; nothing else is a door.
"""
