"""Registered queries: entries on disk, started, watched, dropped and served.

Doors: `register_query`, `list_entries`, `drop_query`, `serving`.
"""
