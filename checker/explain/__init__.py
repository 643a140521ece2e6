"""The reasons under the sentence of a failure: query line, mapping, axiom, catalog entry.

Takes plans and failures; makes because-trees. The sentence itself comes from `criteria`.
"""
