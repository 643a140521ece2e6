"""Where the rows of streams come from: files, row groups, and what Spark reads for us.

Takes a declared stream; makes a `History` of Parquet row groups, and chunks of whole timestamps.
Doors: `history`, `read_chunk`, `read_source`, `list_pieces`.
"""
