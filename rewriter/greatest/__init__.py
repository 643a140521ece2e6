"""Other words for the greatest time of each key: by LEAD, MAX OVER, WITH, and around groups.

Takes a query as it is written, before its subqueries are merged; makes numbers of rows, joins with
groups and HAVING of it, in place. Doors: `name_greatest`,
`compare_extremes`.
"""
