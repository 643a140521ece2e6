"""What texts of data seem to be: numbers as countries write them, tables that other programs print.

In: cells, files. Out: options, tables. Others import each file's one public function.
"""
