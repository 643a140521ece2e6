"""GROUP BY, aggregates, HAVING and expressions of SQL: of tables, and of joined rows that come and
go.

Takes SQL as it is written; makes groups, and what is computed of rows, with their types. Doors:
`read_sql_aggregation`, `read_joined_row`; `as_having` and `as_part`, a query in fewer words, for
who refutes it.
"""
