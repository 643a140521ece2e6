"""What is told of rows in an order: the first and the last value of a group, and numbers, ranks and
shares of the rows of a bucket of time; standard deviations of rows before a row; what is
computed of the rows of groups; several groupings of one SELECT; sets that show buckets of time.

Takes a SELECT as it is written, makes aggregates and subqueries with groups of it, in place. Doors:
`compute_groups`, `nest_filters`, `nest_having`,
`number_in_buckets`, `number_values`, `root_variances`, `show_times`,
`split_groupings`.
"""
