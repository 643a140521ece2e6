"""The SQL front end, and SPJ queries printed as SQL.

FROM and WHERE are read in `mappings/sql`, as mappings have them too; GROUP BY is read here. Doors:
`parse_sql`, `print_sql`.
"""
