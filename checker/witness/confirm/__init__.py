"""A candidate witness confirmed by the relational answer, evaluated naively.

Takes a query and a `Witness`; says whether its suffixes tell all subsets of the optional tuples
apart. Shares nothing with plans or the run-time. Doors: `confirm_witness`, `confirm_aggregates`.
"""
