"""Groups that come and go, of which those with the first numbers of each key are told.

Takes SQL as it is written; makes the groups, and which of them are told. Door: `number_groups`.
"""
