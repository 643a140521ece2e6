"""Rows of a key in an order, and those with the first numbers: of all that came, or of those in a
window.

Takes answers as they come, and what was held; makes what begins and ends. Doors: `keep_first`,
`slide_first`, `number_spans`.
"""
