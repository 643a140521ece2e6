"""By which columns the rows of streams can be divided, so that each part is a query of its own.

Takes the plans of a query; makes a `Partition`: the column of each stream, or why there is none.
Doors: `derive_partition`, `partition`.
"""
