"""Local text files without Spark: CSV as Spark's reader and casts read it, in bounded memory.

Takes a declared table and a file; makes Arrow tables of its declared types, or says that only Spark
is certain of it (`NotPlain`). Door: `read_text`.
"""
