"""Groups that come and go, of which those with the first numbers of each key are told; rows that
are numbered and that a register chooses are joined with it.

Takes SQL as it is written; makes the groups, and which of them are told. Door: `number_groups`.
"""
