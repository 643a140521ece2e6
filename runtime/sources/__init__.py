"""Reading the files of streams: found, listed by row group.

Takes a declared stream; makes a `History` of Parquet row groups, which `chunks` reads;
other formats are read through Spark (`read_source`). Messages arrive live only:
`live/arrivals/read_stream`. Doors: `history`, `read_source`, `list_pieces`.
"""
