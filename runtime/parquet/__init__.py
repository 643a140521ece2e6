"""Pages of Parquet files that Arrow decodes slowly as they are, given to it in another form.

Takes a column chunk's bytes; makes an Arrow array, the same as Arrow would. Door: `read_decimals`.
"""
