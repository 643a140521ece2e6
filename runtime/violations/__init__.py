"""Rows of the data at hand of which a declaration is not true, with their places in files.

Takes the history of a stream in the order in which its rows came, or the files of a static
relation; holds every row to the catalog by the rules of a replay (`ingest`); makes
`TableViolations`. Nothing here knows queries. Doors: `find_violations`, `find_static_violations`,
`scan_stream`, `quote_rows`, `violation`.
"""
