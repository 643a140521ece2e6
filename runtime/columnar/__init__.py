"""Columns: Arrow arrays as numbers, frames of them, and what is done to whole columns.

Takes Arrow columns and declared types; makes encoded columns, and says which values are none.
Every room above may import it.
"""
