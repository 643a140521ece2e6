"""Pages of a column of a Parquet file, as a file of this column alone: what Arrow reads again."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from ontoweir.runtime.parquet.compact_thrift import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    Struct,
    write_struct,
)

Part: TypeAlias = bytes | memoryview
"""Bytes that are put together with others."""
_MAGIC, _NAME = b"PAR1", b"a"
INT32, INT64, DOUBLE, BYTE_ARRAY = 1, 2, 5, 6
"""Physical types."""
_REQUIRED, _OPTIONAL = 0, 1
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8
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


def write_column(
    form: PageForm, rows: int, dictionary: Sequence[Part], pages: Sequence[Part]
) -> bytes:
    """A Parquet file of one column, neither a list nor in a structure.

    Args:
        form: of the pages.
        rows: of all pages together.
        dictionary: the page of the dictionary with its header, in parts; none if there is none.
        pages: of data, with their headers, in parts.
    """
    before, first = sum(map(len, dictionary)), len(_MAGIC)
    size = before + sum(map(len, pages))
    column: Struct = {
        1: (I32, form.physical),
        2: (LIST, (I32, [PLAIN, RLE, RLE_DICTIONARY])),
        3: (LIST, (BINARY, [_NAME])),
        4: (I32, CODECS[form.codec]),
        5: (I64, rows),
        6: (I64, size),
        7: (I64, size),
        9: (I64, first + before),
    }
    if before:
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
    return b"".join((_MAGIC, *dictionary, *pages, footer, length, _MAGIC))


def write_head(size: int, values: int, encoding: int | None) -> bytes:
    """The header of a page that is not packed.

    Args:
        size: bytes of what it holds.
        values: how many.
        encoding: theirs, of a column without levels; None: they are a dictionary's, plain.
    """
    number = _whole(size)
    if encoding is None:
        return b"".join((b"\x15\x04", number, number, b"\x4c", _whole(values), _PLAIN_OWN))
    own = (b"\x2c", _whole(values), _whole(encoding), _LEVELS_OWN)
    return b"".join((b"\x15\x00", number, number, *own))


_PLAIN_OWN, _LEVELS_OWN = b"\x15\x00\x00\x00", b"\x15\x06\x15\x06\x00\x00"
"""How headers end: with an encoding that is plain; with levels that are held by RLE."""


@lru_cache(maxsize=4_096)
def _whole(number: int) -> bytes:
    """A number of at least 0, of 32 bits, in the field behind the one before.

    >>> _whole(100).hex()
    '15c801'
    """
    content, left = bytearray(b"\x15"), number << 1
    while left > 127:
        content.append(left & 127 | 128)
        left >>= 7
    content.append(left)
    return bytes(content)
