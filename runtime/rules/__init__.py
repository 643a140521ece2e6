"""What becomes of rows that break a rule on how rows come: `on_violation` of the catalog.

Takes the rows of a chunk that were admitted, and what is remembered of values that are closed;
says which rows break a rule, rejects those that are to be, and counts the others. Nothing here
knows queries. Doors: `watched_rule`, `rule_state`, `enforce_rules`.
"""
