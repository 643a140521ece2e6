"""What was read and decided before, kept between runs by the content of all it was made of.

Takes keys and values of frozen dataclasses; gives them back, or nothing. Doors: `open_cache`,
`encode_values`, `digest_file`.
"""
