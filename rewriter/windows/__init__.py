"""Times as values, and sliding windows: `SELECT ts`, `ts > NOW() - INTERVAL '10' SECOND`.

The time of a row becomes a column of its stream that the data lacks, as buckets of time are. A
window says how long a row is shown: which rows meet is a condition on their timestamps, and when
the answer ends is one more column.
"""
