"""Static relations: loaded, checked against what the catalog declares, views of them evaluated.

Takes the catalog; makes Arrow tables and their statistics. Doors: `load_statics`,
`gather_statistics`.
"""
