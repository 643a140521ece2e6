"""SPARQL texts with NOT EXISTS, EXISTS, MINUS and OPTIONAL, rewritten as texts.

Takes the text of a query; makes texts whose clauses are in the outermost group. Doors:
`lift_clauses`, `name_absence`; `list_items` and `edit_text` read and change texts.
"""
