"""Joins that the rest of a query covers: a class that the ontology gives members from several
mappings, asked of what one of these makes.

Takes a query over the tables and the views that it reads; gives it without the views whose row is
always there. The door is `cover_joins`.
"""
