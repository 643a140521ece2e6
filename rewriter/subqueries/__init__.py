"""Queries that read queries: subqueries in FROM, WITH, and the views of the catalog.

A subquery of plain select-project-join is merged into the query around it, so that what follows
sees one query over tables; of a UNION ALL each part is. Door: `merge_subqueries`.
"""
