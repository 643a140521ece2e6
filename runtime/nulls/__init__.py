"""NULL as one of the values that a plan keeps and shows.

Takes columns in units and where they are NULL; makes columns in which a number stands for it, which
kernels compare, keep and count like any other. Doors: `code_null`, `fill_null`, `find_there`.
"""
