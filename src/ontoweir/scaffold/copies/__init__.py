"""Tables that a new project copies once: those of databases, sheets of workbooks, what is nested in
Parquet with its time, logs of web servers.

Takes a file that only its own program reads as tables, a zip, a log, or text in UTF-16; gives files
in a folder. Doors: `export_access_log`, `export_database`, `export_workbook`, `unpack_files`.
"""
