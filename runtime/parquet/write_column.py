"""Pages of a column of a Parquet file, as a file of this column alone: what Arrow reads again."""

from dataclasses import dataclass

from ontoweir.runtime.parquet.compact_thrift import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    Struct,
    write_struct,
)

_MAGIC, _NAME = b"PAR1", b"a"
INT64, BYTE_ARRAY = 2, 6
"""Physical types."""
_REQUIRED, _OPTIONAL = 0, 1
PLAIN, PLAIN_DICTIONARY, _RLE, RLE_DICTIONARY = 0, 2, 3, 8
_UTF8 = 0
CODECS = {"UNCOMPRESSED": 0, "SNAPPY": 1, "GZIP": 2, "BROTLI": 4, "ZSTD": 6}
"""What Parquet's numbers call them, where Arrow (de)compresses as Parquet means it."""


@dataclass(frozen=True, slots=True)
class PageForm:
    """How pages are held: the physical type; whether values may be NULL; whether they are texts;
    and how pages are compressed (CODECS)."""

    physical: int
    optional: bool
    codec: str
    texts: bool = False


def write_column(form: PageForm, rows: int, dictionary: bytes, pages: bytes) -> bytes:
    """A Parquet file of one column, neither a list nor in a structure.

    Args:
        form: of the pages.
        rows: of all pages together.
        dictionary: the page of the dictionary with its header; none if empty.
        pages: of data, with their headers.
    """
    size, first = len(dictionary) + len(pages), len(_MAGIC)
    column: Struct = {
        1: (I32, form.physical),
        2: (LIST, (I32, [PLAIN, _RLE, RLE_DICTIONARY])),
        3: (LIST, (BINARY, [_NAME])),
        4: (I32, CODECS[form.codec]),
        5: (I64, rows),
        6: (I64, size),
        7: (I64, size),
        9: (I64, first + len(dictionary)),
    }
    if dictionary:
        column[11] = (I64, first)
    root: Struct = {4: (BINARY, b"root"), 5: (I32, 1)}
    there = _OPTIONAL if form.optional else _REQUIRED
    only: Struct = {1: (I32, form.physical), 3: (I32, there), 4: (BINARY, _NAME)}
    if form.texts:
        only[6] = (I32, _UTF8)
    placed: Struct = {2: (I64, first), 3: (STRUCT, column)}
    group: Struct = {1: (LIST, (STRUCT, [placed])), 2: (I64, size), 3: (I64, rows)}
    schema = (LIST, (STRUCT, [root, only]))
    footer = write_struct({1: (I32, 2), 2: schema, 3: (I64, rows), 4: (LIST, (STRUCT, [group]))})
    length = len(footer).to_bytes(4, "little")
    return b"".join((_MAGIC, dictionary, pages, footer, length, _MAGIC))
