"""Reading history in chunks of whole timestamps, over all streams of a task.

Takes `History`s and cursors in them; makes `Chunk`s. Plain row groups are decoded portion by
portion (`portions`), so that no row group is in memory as a whole; other pieces are read whole
(`row_groups`). Columns of verified rows are read late, where few can be wanted (`late_pages`);
of rows that come late in time only such are put into order (`order_wanted`), once their values are
held to what is declared (`check_values`).
Doors: `read_chunk`, `row_groups`, `portions`, `late_rows`, `check_values`.
"""
