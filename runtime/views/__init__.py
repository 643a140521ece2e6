"""Views as tables: the rows of a view from those of the tables that its branches read.

Takes what was admitted of streams, static relations, and `View`s; makes rows of view streams as if
they had been admitted, and view relations. Doors: `prepare_view`, `feed_views`, `fill_relations`.
"""
