"""The passes that shorten SPJ queries, and their order (`PASSES`, in `run_passes`).

Takes SPJ queries; makes ones that answer the same and are less. Three passes lie elsewhere:
`find_disjointness` in `ucq`, `find_contradiction` and `name_occurrences` in `algebra`. Door:
`run_passes`.
"""
