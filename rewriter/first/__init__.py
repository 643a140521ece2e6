"""The first groups, and the first of what is joined, of those that come and go.

Takes how they are numbered (`ranked`), and a query of all of them; makes the query of those that
are told (`NumberedGroups`). Doors: `number_groups` of SQL, `limit_groups` of SPARQL.
"""
