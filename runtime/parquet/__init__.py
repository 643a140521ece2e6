"""What Parquet files say of themselves, and pages of theirs that Arrow decodes slowly as they are,
given to it in another form.

Takes bytes of a file; makes the structures of its headers and footer, and an Arrow array, the same
as Arrow would, of all rows or of some. Doors: `compact_thrift`, `read_decimals`, `pick_texts`,
`open_filled`, `filled_column`, `pick_codes`.
"""
