"""The rows of groups: what is computed of them, and HAVING.

Takes an aggregate query over tables and what was written of its groups; gives the same query with
expressions over its row: the group's variables and the aggregates.
"""
