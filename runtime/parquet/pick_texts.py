"""Texts of some rows of a row group: pages without such a row are not unpacked.

Where all texts of a page are of one length, as those of UUIDs are, the rows are picked out of the
page as it is. Other pages are given to Arrow, as a file of these pages alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.page_headers import (
    DATA,
    DICTIONARY,
    Page,
    is_true,
    list_pages,
    number_of,
)
from ontoweir.runtime.parquet.write_column import (
    BYTE_ARRAY,
    CODECS,
    PLAIN,
    PageForm,
    write_column,
)

_LENGTH = 4
"""Bytes before a text, and before levels: how many follow."""
_MOST = (1 << 31) - 1
"""Bytes of texts that an array may have."""


def are_texts(footer: "pq.FileMetaData", place: int) -> bool:
    """Whether a column, by the place of its leaf, is of texts that `TextPages` may read: not in a
    list or structure."""
    leaf = footer.schema.column(place)
    if leaf.physical_type != "BYTE_ARRAY" or leaf.logical_type.type != "STRING":
        return False
    if leaf.max_repetition_level or leaf.max_definition_level > 1 or "." in leaf.path:
        return False
    groups = (footer.row_group(n).column(place) for n in range(footer.num_row_groups))
    return all(g.compression in CODECS for g in groups)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A page, and the rows wanted of it."""

    page: Page
    rows: Array


class TextPages:
    """Picks texts out of a column of a row group, from its beginning to its end.

    Args:
        source: the file.
        footer: what it says of itself.
        group: the row group.
        place: that of the column's leaf; `are_texts`.
    """

    def __init__(
        self, source: "pa.NativeFile", footer: "pq.FileMetaData", group: int, place: int
    ) -> None:
        leaf, chunk = footer.schema.column(place), footer.row_group(group).column(place)
        self._source = source
        self._form = PageForm(BYTE_ARRAY, bool(leaf.max_definition_level), chunk.compression, True)
        self._rows = footer.row_group(group).num_rows
        start = chunk.data_page_offset
        if chunk.has_dictionary_page:
            start = min(start, chunk.dictionary_page_offset)
        self._pages = list_pages(source, int(start), int(chunk.total_compressed_size))
        self._first, self._page = 0, next(self._pages, None)
        self._dictionary = b""
        self._even = True
        """Whether texts are of one length, as far as pages were looked at."""

    def pick(self, rows: Array) -> "pa.ChunkedArray":
        """The texts of rows, by number, ascending; none is before the first of those that were
        picked last.

        Raises:
            ValueError: pages are not understood, or there are fewer rows.
            OSError: the file cannot be read.
            pa.ArrowInvalid: Arrow does not understand a page.
        """
        found: list[pa.Array] = []
        others: list[_Wanted] = []
        for wanted in self._find(rows):
            even = self._pick_even(wanted) if self._even else None
            if even is None:
                others.append(wanted)
                continue
            found += self._read(others)
            others = []
            found.append(even)
        found += self._read(others)
        return pa.chunked_array([pa.concat_arrays(found)] if found else [], pa.string())

    def _find(self, rows: Array) -> Iterator[_Wanted]:
        """The pages that have some of the rows; the last one may have some of the next, too."""
        done = 0
        while done < len(rows):
            page = self._page
            if page is None:
                raise ValueError("a row group has fewer rows than it says")
            if page.kind == DICTIONARY:
                if self._first or self._dictionary:
                    raise ValueError("a dictionary is not at the beginning")
                self._dictionary = self._read_bytes(page.start, page.head + page.packed)
                self._page = next(self._pages, None)
                continue
            end = self._first + page.values
            stop = int(np.searchsorted(rows, end))
            if stop > done:
                yield _Wanted(page, rows[done:stop] - self._first)
                done = stop
            if done < len(rows):
                self._first, self._page = end, next(self._pages, None)

    def _pick_even(self, wanted: _Wanted) -> "pa.Array | None":
        """The texts wanted of a page whose texts are of one length (None: they are not, or held in
        another way, or some are NULL)."""
        page, rows = wanted.page, wanted.rows
        if number_of(page.own, 2 if page.kind == DATA else 4) != PLAIN:
            return None
        body = self._unpack(page)
        width = _find_width(body, page.values)
        if body is None or width is None:
            self._even = False
            return None
        if len(rows) * width > _MOST:
            raise ValueError("so many texts are too long")
        texts = np.ascontiguousarray(body.reshape(page.values, width)[rows, _LENGTH:])
        ends = np.arange(len(rows) + 1, dtype=np.int32) * np.int32(width - _LENGTH)
        return pa.StringArray.from_buffers(len(rows), pa.py_buffer(ends), pa.py_buffer(texts))

    def _unpack(self, page: Page) -> "Array | None":
        """The values of a page (None: some are NULL)."""
        first = page.start + page.head
        if page.kind == DATA:
            content = self._decompress(self._read_bytes(first, page.packed), page.size)
            if not self._form.optional:
                return np.frombuffer(content, np.uint8)
            length = int.from_bytes(content[:_LENGTH], "little")
            levels = bytes(content[_LENGTH : _LENGTH + length])
            if not is_run(levels, page.values):
                return None
            return np.frombuffer(content, np.uint8)[_LENGTH + length :]
        if number_of(page.own, 2):
            return None
        before = number_of(page.own, 5) + number_of(page.own, 6)
        if before > min(page.packed, page.size):
            raise ValueError("a page is cut off")
        packed = self._read_bytes(first + before, page.packed - before)
        if is_true(page.own, 7, True):
            packed = self._decompress(packed, page.size - before)
        return np.frombuffer(packed, np.uint8)

    def _decompress(self, packed: bytes, size: int) -> "pa.Buffer | bytes":
        if self._form.codec == "UNCOMPRESSED" or not packed:
            return packed
        return pa.decompress(packed, size, self._form.codec.lower())

    def _read(self, wanted: Sequence[_Wanted]) -> "list[pa.Array]":
        """The texts wanted of pages, by Arrow."""
        if not wanted:
            return []
        pages = [w.page for w in wanted]
        data = [self._read_bytes(p.start, p.head + p.packed) for p in pages]
        count = sum(p.values for p in pages)
        file = pa.BufferReader(write_column(self._form, count, [self._dictionary], data))
        (found,) = pq.ParquetFile(file, pre_buffer=False).read(use_threads=False)
        if len(found) != count or found.type != pa.string():
            raise ValueError("pages have fewer rows than they say")
        starts = np.cumsum([0, *(p.values for p in pages)])
        rows = np.concatenate([w.rows + start for w, start in zip(wanted, starts, strict=False)])
        picked: pa.ChunkedArray = found.take(pa.array(rows))
        return list(picked.chunks)

    def _read_bytes(self, start: int, size: int) -> bytes:
        content: bytes = self._source.read_at(size, start)
        if len(content) != size:
            raise ValueError("the file is cut off")
        return content


def _find_width(body: "Array | None", count: int) -> int | None:
    """How many bytes each of so many texts takes, with its length (None: not all the same)."""
    if body is None or len(body) < _LENGTH:
        return None
    width = int.from_bytes(body[:_LENGTH].tobytes(), "little") + _LENGTH
    if len(body) != width * count:
        return None
    lengths = np.ndarray(count, "<u4", body.data, 0, (width,))
    return width if (lengths == width - _LENGTH).all() else None


def is_run(levels: bytes, count: int) -> bool:
    """Whether levels say, in one run, that so many values are there.

    >>> is_run(bytes([10, 1]), 5), is_run(bytes([10, 0]), 5), is_run(bytes([3, 31]), 5)
    (True, False, False)
    """
    head = shift = 0
    for place, byte in enumerate(levels):
        head |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return not head & 1 and head >> 1 >= count and levels[place + 1 : place + 2] == b"\x01"
    return False
