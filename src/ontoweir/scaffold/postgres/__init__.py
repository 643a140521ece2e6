"""Tables of PostgreSQL that a new project copies once, as Parquet, and what is declared of them.

Takes a connection; gives files in a folder, and keys, references and domains. Door:
`export_postgres`.
"""
