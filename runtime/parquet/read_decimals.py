"""Decimals of a few bytes, of which Parquet's pages hold places in a dictionary.

Arrow makes each decimal of its bytes by itself, which takes ten times as long as to read whole
numbers. So the dictionary alone is made one of whole numbers, units of the decimals' last place;
the pages stay as they are, and Arrow reads them as a column of 64-bit whole numbers.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.compact_thrift import I32, STRUCT, Struct, read_struct, write_struct
from ontoweir.runtime.parquet.page_headers import DATA, DATA_2, DICTIONARY, number_of, part_of
from ontoweir.runtime.parquet.write_column import (
    CODECS,
    INT64,
    PLAIN,
    PLAIN_DICTIONARY,
    RLE_DICTIONARY,
    PageForm,
    write_column,
)

_FIELDS, _OWN_FIELDS = {1, 2, 3, 4, 7}, {1, 2, 3}
"""The fields that headers of dictionaries have, and their own part."""
_ENCODINGS = {DATA: (5, 2), DATA_2: (8, 4)}
"""By the type of a page of data, of the first version or the second, the field of its own header,
and that of its encoding there."""


def are_coded(footer: "pq.FileMetaData", place: int) -> bool:
    """Whether a column, by the place of its leaf, is of decimals that `read_decimals` may read: of
    at most eight bytes, not in a list or structure, with a dictionary in every row group."""
    leaf = footer.schema.column(place)
    kind = leaf.logical_type.type
    if kind != "DECIMAL" or leaf.physical_type != "FIXED_LEN_BYTE_ARRAY" or leaf.length > 8:
        return False
    if leaf.max_repetition_level or leaf.max_definition_level > 1 or "." in leaf.path:
        return False
    groups = [footer.row_group(n).column(place) for n in range(footer.num_row_groups)]
    return all(g.has_dictionary_page and g.compression in CODECS for g in groups)


def read_decimals(
    source: "pa.NativeFile", footer: "pq.FileMetaData", group: int, place: int
) -> "pa.ChunkedArray | None":
    """A column of a row group.

    Args:
        source: the file.
        footer: what it says of itself.
        group: the row group.
        place: that of the column's leaf; `are_coded`.

    Returns:
        The decimals, in 64 bits each (None: some of its pages are no places in a dictionary, or are
        not understood).
    """
    leaf, chunk = footer.schema.column(place), footer.row_group(group).column(place)
    start, size = int(chunk.dictionary_page_offset), int(chunk.total_compressed_size)
    source.seek(start)
    data = source.read(size)
    try:
        header, begin = read_struct(data)
        units = _read_dictionary(data, header, begin, leaf.length, chunk.compression)
        end = begin + number_of(header, 3)
        if units is None or not _are_places(data, end):
            return None
        file = _write_file(units, memoryview(data)[end:], leaf, chunk)
        (found,) = pq.ParquetFile(pa.BufferReader(file), pre_buffer=False).read(use_threads=False)
    except (ValueError, pa.ArrowInvalid, OSError):
        return None  # whatever is wrong, Arrow says it of the file itself
    if len(found) != footer.row_group(group).num_rows:
        return None
    kind = pa.decimal64(leaf.precision, leaf.scale)
    return pa.chunked_array([piece.view(kind) for piece in found.chunks], kind)


def _read_dictionary(
    data: bytes, header: Struct, begin: int, width: int, compression: str
) -> Array | None:
    """The units of the dictionary's decimals (None: it is not at the beginning, or not plain)."""
    inner = part_of(header, 7)
    if number_of(header, 1) != DICTIONARY:
        return None
    if header.keys() - _FIELDS or inner.keys() - _OWN_FIELDS:
        return None
    if number_of(inner, 2) not in (PLAIN, PLAIN_DICTIONARY):
        return None
    count, size = number_of(inner, 1), number_of(header, 2)
    if size != count * width:
        return None
    content = data[begin : begin + number_of(header, 3)]
    if compression != "UNCOMPRESSED":
        content = pa.decompress(content, size, compression.lower(), asbytes=True)
    if len(content) != size:
        return None
    return read_units(content, count, width)


def read_units(content: "bytes | memoryview", count: int, width: int) -> Array:
    """So many whole numbers, of so many bytes each, at most eight.

    >>> read_units(bytes([0, 255, 255, 255]), 2, 2).tolist()
    [255, -1]
    """
    # the most significant byte comes first; what is before it is taken in and shifted out again
    words = np.zeros((count, 8), dtype=np.uint8)
    words[:, :width] = np.frombuffer(content, np.uint8, count * width).reshape(count, width)
    units: Array = words.view(">i8").reshape(count).astype(np.int64) >> 8 * (8 - width)
    return units


def _are_places(data: bytes, begin: int) -> bool:
    """Whether all pages from a place on are of data, and hold places in a dictionary."""
    while begin < len(data):
        header, begin = read_struct(data, begin)
        own, field = _ENCODINGS.get(number_of(header, 1), (0, 0))
        if number_of(part_of(header, own), field) not in (PLAIN_DICTIONARY, RLE_DICTIONARY):
            return False
        begin += number_of(header, 3)
    return begin == len(data)


def _write_file(
    units: Array,
    pages: memoryview,
    leaf: "pq.ColumnSchema",
    chunk: "pq.ColumnChunkMetaData",
) -> bytes:
    """A Parquet file of one column, of whole numbers, with these pages."""
    plain = units.astype("<i8").tobytes()
    packed = plain
    if chunk.compression != "UNCOMPRESSED":
        packed = pa.compress(plain, chunk.compression.lower(), asbytes=True)
    sizes = {1: (I32, DICTIONARY), 2: (I32, len(plain)), 3: (I32, len(packed))}
    own: Struct = {1: (I32, len(units)), 2: (I32, PLAIN)}
    head = write_struct({**sizes, 7: (STRUCT, own)})
    form = PageForm(INT64, bool(leaf.max_definition_level), chunk.compression)
    return write_column(form, int(chunk.num_values), [head, packed], [pages])
