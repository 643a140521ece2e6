"""Synopsis plans: what to keep, for how long, and a bound on it.

Takes a normal form; makes a `SynopsisPlan` with its bound, or the `Obstacle` in its way.
`make_plan`: which tables; `make_table`: what a table keeps, and for how long; `bound_…`: how many
rows.
"""
