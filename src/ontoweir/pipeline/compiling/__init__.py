"""Queries on their way from text to tables.

Takes texts and an open project; gives `CompiledQuery`, or unions of SPJ queries. Doors:
`compile_text`, `compile_sql`, `compile_branches`, `recompile_query`.
"""
