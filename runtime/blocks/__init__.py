"""Queries whose answers others read: one plan, from the rows to the last answers.

Takes the rows of a chunk; makes those of the streams that are answers. Doors: `prepare_blocks`,
`advance_blocks`.
"""
