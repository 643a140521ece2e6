"""The decision of a whole query: disjuncts, parts of aggregates, and what the static data says.

Takes a union of SPJ queries and the catalog; makes a `Verdict`. Doors: `check_query`,
`refine_plans`, `plan_unbounded`.
"""
