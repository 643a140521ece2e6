"""All plans of a query over one chunk of rows: what replays and live runs share.

Takes a `QueryJob` and admitted rows; makes answers and the state after them. Doors: `query_job`,
`advance_rows`, `aggregate_chunk`, `count_emitted`.
"""
