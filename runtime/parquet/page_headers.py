"""The headers of Parquet's pages, one after the other, without what the pages hold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from ontoweir.runtime.parquet.compact_thrift import FALSE, I32, STRUCT, TRUE, Struct, read_struct

DATA, DICTIONARY, DATA_2 = 0, 2, 3
"""Kinds of pages: of data, in the first version and the second; of a dictionary."""
_OWN = {DATA: 5, DICTIONARY: 7, DATA_2: 8}
"""By kind, the field of its own header."""
_FIELDS = {1, 2, 3, 4}
RLE, _PACKED = 3, 4
"""How levels are held."""
_NUMBER = rb"([\x80-\xff]{0,4}[\x00-\x7f])"
_TEXT = b"|".join(re.escape(bytes([n])) + b".{%d}" % n for n in range(128))
_HEAD = re.compile(
    rb"\x15\x00\x15"
    + _NUMBER
    + rb"\x15"
    + _NUMBER
    + rb"(?:\x15[\x80-\xff]{0,4}[\x00-\x7f]\x1c|\x2c)"
    rb"\x15" + _NUMBER + rb"\x15([\x00\x04\x06\x08\x0a\x0c\x0e\x10\x12])\x15\x06\x15[\x06\x08]"
    rb"(?:\x1c(?:[\x18\x28\x38\x48\x58](?:" + _TEXT + rb")"
    rb"|[\x16\x26\x36][\x80-\xff]{0,9}[\x00-\x7f]|[\x11\x12\x21\x22])*\x00)?\x00\x00",
    re.DOTALL,
)
"""The header of a page of data of the first version as most writers have it, whose levels are held
by RLE: bytes unpacked, and packed; values, and their encoding. What it says of the least and the
greatest value is not looked at."""
_HEADS = (1 << 10, 1 << 16, 1 << 24)
"""Bytes that are read for a header: so many first, more if it is longer."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: where its header is in the file, and how long it is; how many bytes it holds, packed
    and unpacked; how many values; `own`: its own header."""

    kind: int
    start: int
    head: int
    packed: int
    size: int
    values: int
    own: Struct

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.start + self.head + self.packed


class PageHead(NamedTuple):
    """What is said of a page in memory.

    `kind`: of the page; `begin`: where what it holds begins; `packed`, `size`: bytes of that,
    packed and unpacked; `values`: how many; `encoding`: theirs; `levels`: bytes of levels before
    what is packed, of a page of the second version; `filled`: levels are understood, and say but
    whether a value is NULL; `is_packed`: it is.
    """

    kind: int
    begin: int
    packed: int
    size: int
    values: int
    encoding: int
    levels: int = 0
    filled: bool = True
    is_packed: bool = True


def list_heads(data: bytes) -> list[PageHead]:
    """The headers of a column's pages in memory; the last page may be cut off.

    Raises:
        ValueError: one is not understood.
    """
    heads, place = [], 0
    while place < len(data):
        found = _HEAD.match(data, place)
        if found is None:
            heads.append(_read_head(data, place))
        else:
            size, packed, values = (_whole(n) for n in found.group(1, 2, 3))
            encoding = found[4][0] >> 1
            heads.append(PageHead(DATA, found.end(), packed, size, values, encoding))
        place = heads[-1].begin + heads[-1].packed
    return heads


@lru_cache(maxsize=256)
def _whole(content: bytes) -> int:
    """A number of at least 0.

    Raises:
        ValueError: it is less.
    """
    number = 0
    for byte in reversed(content):
        number = number << 7 | byte & 127
    if number & 1:
        raise ValueError("a header of a page lacks a number")
    return number >> 1


def _read_head(data: bytes, place: int) -> PageHead:
    header, begin = read_struct(data, place)
    kind = number_of(header, 1)
    if kind not in _OWN or header.keys() - {*_FIELDS, _OWN[kind]}:
        raise ValueError("a page is of another kind")
    own, size, packed = part_of(header, _OWN[kind]), number_of(header, 2), number_of(header, 3)
    values, encoding = number_of(own, 1), number_of(own, 2 if kind != DATA_2 else 4)
    if kind == DATA:
        filled = number_of(own, 3) == RLE and number_of(own, 4) in (RLE, _PACKED)
        return PageHead(kind, begin, packed, size, values, encoding, 0, filled)
    if kind == DICTIONARY:
        return PageHead(kind, begin, packed, size, values, encoding)
    levels, repeated = number_of(own, 5), number_of(own, 6)
    filled = not repeated
    packs = is_true(own, 7, True)
    return PageHead(kind, begin, packed, size, values, encoding, levels, filled, packs)


def list_pages(source: "pa.NativeFile", start: int, size: int) -> Iterator[Page]:
    """The pages of a column of a row group.

    Args:
        source: the file; when a page is asked for, its header is read.
        start: where the first one is; `size`: bytes of all.

    Raises:
        ValueError: one is not understood, or reaches beyond the last.
        OSError: the file cannot be read.
    """
    end = start + size
    while start < end:
        page = _read_page(source, start, end - start)
        if page.end > end:
            raise ValueError("a page is cut off")
        yield page
        start = page.end


def number_of(header: Struct, field: int) -> int:
    """A field that is a whole number of 32 bits, at least 0 as sizes and kinds are.

    Raises:
        ValueError: it is none.
    """
    kind, found = header.get(field, (None, -1))
    if kind != I32 or found < 0:
        raise ValueError("a header of a page lacks a number")
    return int(found)


def part_of(header: Struct, field: int) -> Struct:
    """A field that is a structure.

    Raises:
        ValueError: it is none.
    """
    kind, found = header.get(field, (None, {}))
    if kind != STRUCT:
        raise ValueError("a header of a page lacks a part")
    part: Struct = found
    return part


def is_true(header: Struct, field: int, default: bool) -> bool:
    """A field that says yes or no.

    Raises:
        ValueError: it does not.
    """
    kind, found = header.get(field, (TRUE, default))
    if kind not in (TRUE, FALSE):
        raise ValueError("a header of a page lacks yes or no")
    return bool(found)


def _read_page(source: "pa.NativeFile", start: int, left: int) -> Page:
    for most in _HEADS:
        content = source.read_at(min(most, left), start)
        try:
            header, length = read_struct(content)
        except ValueError:
            if most >= left or most == _HEADS[-1]:
                raise
            continue
        break
    kind = number_of(header, 1)
    if kind not in _OWN or header.keys() - {*_FIELDS, _OWN[kind]}:
        raise ValueError("a page is of another kind")
    own = part_of(header, _OWN[kind])
    packed, size = number_of(header, 3), number_of(header, 2)
    return Page(kind, start, length, packed, size, number_of(own, 1), own)
