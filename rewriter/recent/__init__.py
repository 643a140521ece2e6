"""The latest matches of each key, whatever rows make them.

Takes SPARQL as it is written, and its solutions; makes a stream of these, of which later ones of a
key replace those before. Door: `last_matches`.
"""
