"""Times of a row beside its timestamp: when something was measured, is due, or was so before.

Takes a query, and what is known of the streams that it reads; says how far from its row's timestamp
a time of it lies, so that no row of an hour, or a day, of it comes any more some time later. Doors:
`bound_times`, `read_cut`.
"""
