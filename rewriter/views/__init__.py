"""Predicates as views: a view is a set of triples, whatever the rows that make them.

Takes the assertions of a predicate; makes assertions whose rows make each triple once, over views
where they do not by themselves. Doors: `SetMaker`,
`expand_views`, `redeclare_views`, `find_origins`.
"""
