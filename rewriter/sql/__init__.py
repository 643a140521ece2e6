"""The SQL front end, and SPJ queries printed as SQL.

Doors: `parse_sql`, `print_sql`.
"""
