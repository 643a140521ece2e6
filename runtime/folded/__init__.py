"""Rows of a chunk that a query of groups, or of distinct answers, counts alike become a few.

Input: a run with its plans, and what was admitted of a stream. Output: the rows that matter, each
with how many it stands for. Others may import `list_folded` and `fold_rows`.
"""
