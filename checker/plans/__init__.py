"""Synopsis plans: what to keep, for how long, and a bound on it.

Takes a normal form; makes a `SynopsisPlan` with its bound, or the `Obstacle` in its way.
"""
