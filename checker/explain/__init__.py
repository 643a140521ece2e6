"""Why: each reason in terms of the user's query, mapping, axiom and catalog entry.

Takes plans and failures; makes because-trees.
"""
