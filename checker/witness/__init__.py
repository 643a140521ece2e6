"""Witnesses: streams that force memory to grow; messages call them counterexamples.

Takes a failing disjunct; makes a `Witness` that the relational answer confirms, or none. Rooms:
`layout` makes candidates, `confirm` judges them; neither knows the other; `refute` has the joins
whose copies are laid out where a query is more than one. Doors: `find_witness`, `witness`,
`evaluate_naively`, and those of `refute`. (Tree witnesses are something else: `rewriter/ucq`.)
"""
