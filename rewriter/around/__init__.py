"""What is asked around queries whose rows come and go: the first of these, and those of several.

Takes how rows are numbered (`ranked`), and the queries of all of them; makes the query of what is
told. Doors: `number_groups` and `unite_changing` of SQL, `limit_groups` of SPARQL.
"""
