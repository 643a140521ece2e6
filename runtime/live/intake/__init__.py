"""One intake for many queries: one streaming query, one reading of each file, one commit.

Input: registered queries, each prepared as a live job of its own (`make_live_job`), which come and
go. Output: what a run of each alone would give: answers, rejected rows, state. A *lane* is queries
that have read the same rows of the same columns: their rows are admitted once. Others may import
`intake` and `model`.
"""
