"""How many: values of a key or a column, rows of a relation, tuples at one timestamp.

Takes the catalog's declarations; makes numbers, and the declarations they rest on.
"""
