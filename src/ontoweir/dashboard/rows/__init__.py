"""Rows behind the pages: a query's answers and its rejected rows, from the files that runs write.

Takes the folders of a site; gives pages of rows, downloads, charts, and the rows that come. It
writes nothing. Door: `add_rows`.
"""
