"""From the rows of groups to answers: HAVING, and what is computed of a row.

Takes rows with a group's variables and its aggregates; makes rows of the query's columns. Door:
`shape_rows`.
"""
