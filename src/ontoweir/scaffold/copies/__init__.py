"""Tables that a new project copies once, as Parquet: those of databases, and sheets of workbooks.

Takes a file that only its own program reads as tables; gives files in a folder. Doors:
`export_database`, `export_workbook`.
"""
