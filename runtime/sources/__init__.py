"""Reading the files of streams: found, listed by row group, read in chunks.

Takes a declared stream; makes a `History` of Parquet row groups, and chunks of whole timestamps;
other formats are read through Spark (`read_source`). Messages arrive live only:
`live/arrivals/read_stream`. Doors: `history`, `read_chunk`, `read_source`, `list_pieces`.
"""
