"""Lines of JSON that are all written alike, as columns, without a parser for each.

Input: a block of lines. Output: a table, or None where they are not so alike that it is certain to
be what Arrow's reader makes of them. Others may import `read_uniform`.
"""
