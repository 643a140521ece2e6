"""Functions that Python computes: those of a row that users write, and percent-encoding.

`read_function` reads the types of users' functions from the module's source, and imports nothing;
`call_function` calls them over whole columns; `percent_encode` is what templates of R2RML do. The
readers of SQL and SPARQL, and the evaluation of expressions, may import it.
"""
