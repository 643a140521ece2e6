"""Texts as whole numbers: a table of distinct texts, looked up by columns.

Takes Arrow columns of texts; makes their codes, and texts of codes. What is looked up often (the
texts of static relations) is hashed once; nothing is done value by value in Python. Doors:
`string_pool`, `text_table`.
"""
