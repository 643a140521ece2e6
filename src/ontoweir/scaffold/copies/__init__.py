"""Tables that a new project copies once, as Parquet: those of databases, sheets of workbooks, and
what is nested in Parquet with its time.

Takes a file that only its own program reads as tables, a zip, or text in UTF-16; gives files in a
folder. Doors: `export_database`, `export_workbook`, `unpack_files`.
"""
