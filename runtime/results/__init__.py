"""From matches to answers: groups and their aggregates, RDF terms, files of results.

Takes a kernel's results; makes Arrow tables of answers, and writes them whole or not at all.
Doors: `render_results`, `update_groups`, `write_results`.
"""
