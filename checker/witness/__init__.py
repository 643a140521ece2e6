"""Witnesses: streams that force memory to grow; messages call them counterexamples.

Takes a failing disjunct; makes a `Witness` that the relational answer confirms, or none. Rooms:
`layout` makes candidates, `confirm` judges them; neither knows the other. Doors: `find_witness`,
`witness`, `evaluate_naively`. (Tree witnesses are something else: `rewriter/ucq`.)
"""
