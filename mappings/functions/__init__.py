"""Functions of a row that users write in Python.

`read_function` reads their types from the module's source, and imports nothing; `call_function`
calls them over whole columns. The readers of SQL and SPARQL, and the evaluation of expressions,
may import it.
"""
