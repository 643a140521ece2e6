"""The first queries of a project.

Takes a stream, what was measured of it, and its terms; gives texts, and those that are bounded.
Doors: `write_queries`, `choose_queries`.
"""
