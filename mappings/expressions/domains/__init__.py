"""Which values an expression can have, derived from the domains of the columns that it reads.

Takes an expression and the declared columns of its table; gives finite values, a range, or nothing.
Door: `derive_domain`.
"""
