"""Columns of a row group that may be NULL, which Arrow reads as columns that may not.

Pages of a column that may be NULL say of each value whether it is there, and Arrow looks at that
for value after value: that takes as long as to decode the values, and longer where some are NULL.
So pages are given to Arrow without it (`filled_column`). Whole numbers of 64 bits, of which the
dictionary has only numbers of 32, become such on the way.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.parquet.filled_column import FilledColumn, FilledLeaf, unite_parts
from ontoweir.runtime.parquet.page_headers import DICTIONARY, list_heads
from ontoweir.runtime.parquet.read_decimals import are_coded
from ontoweir.runtime.parquet.write_column import BYTE_ARRAY, CODECS, DOUBLE, INT32, INT64

_MOST = 32 << 20
"""Unpacked bytes of a column that are in memory at once; longer ones are left to Arrow."""
_FEWEST = 4_096
"""Values of a page: where there are fewer, to take pages apart costs more than it saves."""


def find_leaves(footer: "pq.FileMetaData", wanted: Collection[str]) -> dict[str, FilledLeaf]:
    """Those of some columns of a file that `open_filled` may read, by name: of whole numbers,
    doubles, times, dates, texts, or decimals of a dictionary, each may be NULL, and is neither a
    list nor in a structure."""
    schema, found = footer.schema.to_arrow_schema(), dict[str, FilledLeaf]()
    counts = Counter(schema.names)
    for place in range(footer.num_columns):
        leaf = footer.schema.column(place)
        if leaf.path not in wanted or counts[leaf.path] != 1:
            continue
        if leaf.max_repetition_level or leaf.max_definition_level != 1:
            continue
        kind = schema.field(leaf.path).type
        physical = _find_physical(leaf.physical_type, kind)
        if physical is not None:
            found[leaf.path] = FilledLeaf(place, physical, kind)
        elif are_coded(footer, place):
            decimal = pa.decimal64(leaf.precision, leaf.scale)
            found[leaf.path] = FilledLeaf(place, INT64, decimal, leaf.length)
    return found


def _find_physical(held: str, kind: pa.DataType) -> int | None:
    """What a column is held as, if its values are those of the Arrow type as they are."""
    if held == "INT64" and (pa.types.is_int64(kind) or pa.types.is_timestamp(kind)):
        return INT64
    if held == "INT32" and (pa.types.is_int32(kind) or pa.types.is_date32(kind)):
        return INT32
    if held == "DOUBLE" and pa.types.is_float64(kind):
        return DOUBLE
    return BYTE_ARRAY if held == "BYTE_ARRAY" and pa.types.is_string(kind) else None


class FilledColumns:
    """A column of several row groups that follow each other, from its beginning to its end.

    Args:
        columns: that of each, and how many rows it has.
        leaf: the column.
    """

    def __init__(self, columns: Sequence[tuple[FilledColumn, int]], leaf: FilledLeaf) -> None:
        self._columns, self._leaf = list(columns), leaf

    def take(self, rows: int) -> "pa.ChunkedArray":
        """The next rows, as FilledColumn has them."""
        found: list[pa.Array] = []
        while rows:
            if not self._columns:
                raise OSError("a column has fewer rows than its row groups")
            column, left = self._columns.pop(0)
            mine = min(rows, left)
            found += column.take(mine).chunks
            if left > mine:
                self._columns.insert(0, (column, left - mine))
            rows -= mine
        return unite_parts(found, self._leaf)


def open_filled(
    source: "pa.NativeFile",
    footer: "pq.FileMetaData",
    groups: Sequence[int],
    leaf: FilledLeaf,
    read: "Callable[[int], pa.ChunkedArray]",
) -> FilledColumn | FilledColumns | None:
    """A column of row groups, one after the other; texts are read by their dictionary, and whole
    numbers of 64 bits may come as such of 32.

    Args:
        source: the file.
        footer: what it says of itself.
        groups: the row groups.
        leaf: the column (find_leaves).
        read: for a column that is not understood after all: reads all of it, of a row group.

    Returns:
        None: the pages are not understood, too short or too long.

    Raises:
        OSError: the file cannot be read.
    """
    columns: list[tuple[FilledColumn, int]] = []
    for group in groups:
        column = _open_group(source, footer, group, leaf, partial(read, group))
        if column is None:
            return None
        columns.append((column, footer.row_group(group).num_rows))
    return columns[0][0] if len(columns) == 1 else FilledColumns(columns, leaf)


def _open_group(
    source: "pa.NativeFile",
    footer: "pq.FileMetaData",
    group: int,
    leaf: FilledLeaf,
    read: "Callable[[], pa.ChunkedArray]",
) -> FilledColumn | None:
    chunk = footer.row_group(group).column(leaf.place)
    size, values = int(chunk.total_compressed_size), int(chunk.num_values)
    if chunk.compression not in CODECS or chunk.total_uncompressed_size > _MOST:
        return None
    start = chunk.data_page_offset
    if chunk.has_dictionary_page:
        start = min(start, chunk.dictionary_page_offset)
    data = source.read_at(size, int(start))
    try:
        heads = list_heads(data)
        mine = heads[1:] if heads[:1] and heads[0].kind == DICTIONARY else heads
        short = values < _FEWEST * len(mine) or sum(h.values for h in mine) != values
        if len(data) != size or short or any(h.kind == DICTIONARY or not h.filled for h in mine):
            return None
        return FilledColumn(data, heads, leaf, chunk.compression, read)
    except (ValueError, OSError, pa.ArrowInvalid):
        return None  # whatever is wrong, Arrow says it of the file itself
