"""The headers of Parquet's pages, one after the other, without what the pages hold."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from ontoweir.runtime.parquet.compact_thrift import FALSE, I32, STRUCT, TRUE, Struct, read_struct

DATA, DICTIONARY, DATA_2 = 0, 2, 3
"""Kinds of pages: of data, in the first version and the second; of a dictionary."""
_OWN = {DATA: 5, DICTIONARY: 7, DATA_2: 8}
"""By kind, the field of its own header."""
_FIELDS = {1, 2, 3, 4}
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
