"""Histories whose rows come late: put into the order of time, as far as they declare it.

Takes the row groups of a history and the lateness that its stream declares; says in which order
they are read (`order_pieces`), and of what row groups pieces in the order of time are made, which
`sources` reads (`find_disorder`). Doors: those two.
"""
