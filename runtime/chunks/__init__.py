"""Reading history in chunks of whole timestamps, over all streams of a task.

Takes `History`s and cursors in them; makes `Chunk`s. Plain row groups are decoded portion by
portion (`portions`), so that no row group is in memory as a whole; other pieces are read whole
(`row_groups`). Texts of verified rows are read late, of the rows that can be wanted (`late_texts`).
Doors: `read_chunk`, `row_groups`, `portions`, `late_rows`.
"""
