"""Columns of several streams that seem to name the same things.

Takes a catalog of streams with data; finds such columns, which is a guess that says its evidence
(`find_same`), writes queries that join by them (`write_joins`), and gives them one IRI
(`share_names`). Doors: these three.
"""
