"""Spark itself: its Java process, sessions, DataFrames as Arrow tables, and its errors in words.

Takes settings and DataFrames; makes sessions and tables. Every room may import it.
"""
