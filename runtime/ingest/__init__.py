"""From rows to members: which tuples are admitted, which can be a member's, and their encoding.

Takes chunks of rows; makes frames for each member of a plan, and rejected rows with reasons.
Doors: `admit_rows`, `build_members`, `enforced_columns`, `list_references`.
"""
