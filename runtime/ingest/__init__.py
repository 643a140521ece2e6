"""From rows to members: which rows are admitted, which can be a member's, and their encoding.

Takes chunks of rows; makes frames for each member of a plan, and rejected rows with reasons. Late
and repeated rows of live runs never come here: `live/arrivals`. Doors: `admit_rows`,
`build_members`, `enforced_columns`, `list_references`.
"""
