"""From the rows of groups to answers: HAVING, and what is computed of a row; and when groups are
final.

Takes rows with a group's variables and its aggregates; makes rows of the query's columns. Doors:
`shape_rows`, `bucket_closing`, `value_closing`.
"""
