"""Other words for the latest row, for what is there, and for what is not.

Takes a SELECT as it is written, makes NOT EXISTS, QUALIFY and ASOF JOIN of it, in place. Doors:
`compare_all`, `choose_values`, `join_latest` (`compare_greatest`), `name_later`.
"""
