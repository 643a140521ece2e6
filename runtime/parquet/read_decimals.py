"""Decimals of a few bytes, of which Parquet's pages hold places in a dictionary.

Arrow makes each decimal of its bytes by itself, which takes ten times as long as to read whole
numbers. So the dictionary alone is made one of whole numbers, units of the decimals' last place;
the pages stay as they are, and Arrow reads them as a column of 64-bit whole numbers.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.columnar.exact_decimals import decode_decimals
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.compact_thrift import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    Struct,
    read_struct,
    write_struct,
)

_MAGIC, _NAME = b"PAR1", b"a"
_INT64, _REQUIRED, _OPTIONAL = 2, 0, 1
_PLAIN, _PLAIN_DICTIONARY, _RLE, _RLE_DICTIONARY = 0, 2, 3, 8
_DICTIONARY_PAGE = 2
_FIELDS, _OWN_FIELDS = {1, 2, 3, 4, 7}, {1, 2, 3}
"""The fields that headers of dictionaries have, and their own part."""
_ENCODINGS = {0: (5, 2), 3: (8, 4)}
"""By the type of a page of data, of the first version or the second, the field of its own header,
and that of its encoding there."""
_CODECS = {"UNCOMPRESSED": 0, "SNAPPY": 1, "GZIP": 2, "BROTLI": 4, "ZSTD": 6}
"""What Parquet's numbers call them, where Arrow (de)compresses as Parquet means it."""


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
    return all(g.has_dictionary_page and g.compression in _CODECS for g in groups)


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
        None: some of its pages are no places in a dictionary, or are not understood.
    """
    leaf, chunk = footer.schema.column(place), footer.row_group(group).column(place)
    start, size = int(chunk.dictionary_page_offset), int(chunk.total_compressed_size)
    source.seek(start)
    data = source.read(size)
    try:
        header, begin = read_struct(data)
        units = _read_dictionary(data, header, begin, leaf.length, chunk.compression)
        end = begin + _number(header, 3)
        if units is None or not _are_places(data, end):
            return None
        file = _write_file(units, data[end:], leaf, chunk)
        (found,) = pq.ParquetFile(pa.BufferReader(file), pre_buffer=False).read(use_threads=False)
    except (ValueError, pa.ArrowInvalid, OSError):
        return None  # whatever is wrong, Arrow says it of the file itself
    if len(found) != footer.row_group(group).num_rows:
        return None
    kind = pa.decimal128(leaf.precision, leaf.scale)
    return pa.chunked_array([_make_decimals(piece, kind) for piece in found.chunks], kind)


def _number(header: Struct, field: int) -> int:
    """A field that is a whole number of 32 bits, at least 0 as sizes and kinds are.

    Raises:
        ValueError: it is none.
    """
    kind, found = header.get(field, (None, -1))
    if kind != I32 or found < 0:
        raise ValueError("a header of a page lacks a number")
    return int(found)


def _part(header: Struct, field: int) -> Struct:
    """A field that is a structure.

    Raises:
        ValueError: it is none.
    """
    kind, found = header.get(field, (None, {}))
    if kind != STRUCT:
        raise ValueError("a header of a page lacks a part")
    part: Struct = found
    return part


def _read_dictionary(
    data: bytes, header: Struct, begin: int, width: int, compression: str
) -> Array | None:
    """The units of the dictionary's decimals (None: it is not at the beginning, or not plain)."""
    inner = _part(header, 7)
    if _number(header, 1) != _DICTIONARY_PAGE:
        return None
    if header.keys() - _FIELDS or inner.keys() - _OWN_FIELDS:
        return None
    if _number(inner, 2) not in (_PLAIN, _PLAIN_DICTIONARY):
        return None
    count, size = _number(inner, 1), _number(header, 2)
    if size != count * width:
        return None
    content = data[begin : begin + _number(header, 3)]
    if compression != "UNCOMPRESSED":
        content = pa.decompress(content, size, compression.lower(), asbytes=True)
    if len(content) != size:
        return None
    # the most significant byte comes first; what is before it is taken in and shifted out again
    words = np.zeros((count, 8), dtype=np.uint8)
    words[:, :width] = np.frombuffer(content, np.uint8, count * width).reshape(count, width)
    units: Array = words.view(">i8").reshape(count).astype(np.int64) >> 8 * (8 - width)
    return units


def _are_places(data: bytes, begin: int) -> bool:
    """Whether all pages from a place on are of data, and hold places in a dictionary."""
    while begin < len(data):
        header, begin = read_struct(data, begin)
        own, field = _ENCODINGS.get(_number(header, 1), (0, 0))
        if _number(_part(header, own), field) not in (_PLAIN_DICTIONARY, _RLE_DICTIONARY):
            return False
        begin += _number(header, 3)
    return begin == len(data)


def _write_file(
    units: Array,
    pages: bytes,
    leaf: "pq.ColumnSchema",
    chunk: "pq.ColumnChunkMetaData",
) -> bytes:
    """A Parquet file of one column, of whole numbers, with these pages."""
    plain = units.astype("<i8").tobytes()
    packed = plain
    if chunk.compression != "UNCOMPRESSED":
        packed = pa.compress(plain, chunk.compression.lower(), asbytes=True)
    sizes = {1: (I32, _DICTIONARY_PAGE), 2: (I32, len(plain)), 3: (I32, len(packed))}
    own: Struct = {1: (I32, len(units)), 2: (I32, _PLAIN)}
    head = write_struct({**sizes, 7: (STRUCT, own)})
    size, rows = len(head) + len(packed) + len(pages), int(chunk.num_values)
    column: Struct = {
        1: (I32, _INT64),
        2: (LIST, (I32, [_PLAIN, _RLE, _RLE_DICTIONARY])),
        3: (LIST, (BINARY, [_NAME])),
        4: (I32, _CODECS[chunk.compression]),
        5: (I64, rows),
        6: (I64, int(chunk.total_uncompressed_size) + 8 * len(units)),
        7: (I64, size),
        9: (I64, len(_MAGIC) + len(head) + len(packed)),
        11: (I64, len(_MAGIC)),
    }
    there = _OPTIONAL if leaf.max_definition_level else _REQUIRED
    root: Struct = {4: (BINARY, b"root"), 5: (I32, 1)}
    only: Struct = {1: (I32, _INT64), 3: (I32, there), 4: (BINARY, _NAME)}
    placed: Struct = {2: (I64, len(_MAGIC)), 3: (STRUCT, column)}
    group: Struct = {1: (LIST, (STRUCT, [placed])), 2: (I64, size), 3: (I64, rows)}
    schema = (LIST, (STRUCT, [root, only]))
    footer = write_struct({1: (I32, 2), 2: schema, 3: (I64, rows), 4: (LIST, (STRUCT, [group]))})
    length = len(footer).to_bytes(4, "little")
    return b"".join((_MAGIC, head, packed, pages, footer, length, _MAGIC))


def _make_decimals(units: "pa.Array", kind: "pa.Decimal128Type") -> "pa.Array":
    """Units as decimals."""
    valid = units.is_valid().to_numpy(zero_copy_only=False) if units.null_count else None
    whole = units.fill_null(0) if units.null_count else units
    return decode_decimals(whole.to_numpy(), kind, valid)
