"""The latest matches of each key, whatever rows make them.

Takes SPARQL, or SQL, as it is written; makes a stream of its solutions, or reads the rows of a
union of streams, of which later ones of a key replace those before, or the first in an order hold
(`first_of_union`). Doors: `last_matches`,
`latest_of_union`.
"""
