"""Tables of Arrow, Avro, Delta and Iceberg, read in this process where the packages that do are
installed.

Takes where such files are; gives Arrow tables, or Parquet files that everything else reads.
Doors: `read_packed`, `unpack_stream`.
"""
