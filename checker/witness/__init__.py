"""Witnesses: streams that force memory to grow, laid out, made concrete, and confirmed naively.

Takes a failing disjunct; makes a `Witness` that the relational answer confirms, or none. Rooms:
`layout` makes candidates, `confirm` judges them; neither knows the other. Doors: `find_witness`,
`witness`, `evaluate_naively`.
"""
