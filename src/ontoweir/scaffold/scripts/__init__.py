"""Scripts of SQL as they are written for other engines: tables, views, and the queries over them.

In: files of SQL, and perhaps a catalog. Out: the tables that they declare, and each statement that
asks for something, by itself. Door: `read_scripts`.
"""
