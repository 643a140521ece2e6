"""Sessions of rows, and Spark's windows of time, in SQL: `session_window(ts, '30 minutes')`,
`SESSION(…)`, `window(ts, '1 hour')`.

Takes SELECTs as they were written; makes buckets of time, and groups that begin anew after a gap.
"""
