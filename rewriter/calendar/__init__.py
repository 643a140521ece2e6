"""Days, hours and years in conditions: `CAST(ts AS DATE) = DATE '2026-03-02'`, and what follows of
two rows whose buckets of time are compared.

A comparison with a constant becomes one of the timestamp, which says when it is over; one of two
rows says also how far apart they are, as do values that are times, such as when something ends.
Doors: of SQL `compare_buckets`, `move_intervals`, `list_equal`, `limit_filters`, `spell_now`,
`spell_parts`, and by buckets of which time results are grouped, `find_bucketed`, `list_bucketed`;
of SPARQL `spell_buckets`,
`equal_buckets`, `compare_named_buckets`; of a disjunct `imply_lags`.
"""
