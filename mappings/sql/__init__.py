"""The SQL that queries, mappings and views may use: SELECT … FROM … WHERE … over the catalog.

Takes a text; makes sources and conditions, or a refusal with its place. `read_select_tree`
calls
`read_condition` (AND, OR, NOT, IN), which calls `read_comparison` (one comparison);
`read_expression` reads texts in a mapping's SELECT only.
"""
