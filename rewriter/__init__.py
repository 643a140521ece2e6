"""From a query in the words of an ontology to a union of select-project-join queries.

Rooms, from the ground up: `model`; `ucq`, `algebra`; `passes`, `tmappings`, `unfold`; and the front
ends `sparql` and `sql`. Doors: one function of each.
"""
