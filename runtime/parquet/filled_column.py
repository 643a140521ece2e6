"""A column of a row group that may be NULL, taken from its pages one after the other.

Pages are given to Arrow without what says of each value whether it is there; where some are not,
that is read apart, and the values are put where they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.page_headers import DATA_2, DICTIONARY, PageHead
from ontoweir.runtime.parquet.pick_texts import is_run
from ontoweir.runtime.parquet.read_decimals import read_units
from ontoweir.runtime.parquet.read_levels import count_pages, read_levels, spread_values
from ontoweir.runtime.parquet.read_runs import read_runs
from ontoweir.runtime.parquet.write_column import (
    BYTE_ARRAY,
    DOUBLE,
    INT32,
    INT64,
    PLAIN,
    PLAIN_DICTIONARY,
    RLE_DICTIONARY,
    PageForm,
    Part,
    write_column,
    write_head,
)

_LENGTH = 4
"""Bytes before levels: how many follow."""
_LEVELS = 8
"""The bytes of levels of one run: a header, and a level."""
_PLAIN = {INT32: "<i4", INT64: "<i8", DOUBLE: "<f8"}
"""How numpy calls what pages hold."""
_LEAST = -(1 << 31)
"""The least whole number of 32 bits."""
_CODES = (PLAIN_DICTIONARY, RLE_DICTIONARY)


@dataclass(frozen=True, slots=True)
class FilledLeaf:
    """A column that `open_filled` may read: the place of its leaf; its physical type, and the type
    that Arrow reads it as, of the same values; `width`: bytes of each of its decimals, which are
    seen as those of 64 bits; `runs`: long runs of equal values are wanted as such, with
    Arrow's run ends, of a column of 64 bits."""

    place: int
    physical: int
    kind: pa.DataType
    width: int = 0
    runs: bool = False


class OpenPage(NamedTuple):
    """A page of data that is unpacked: how many values it has, NULL or not, and their encoding;
    `levels`: which are there; `body`: these; `full`: all are there."""

    values: int
    encoding: int
    levels: memoryview
    body: memoryview
    full: bool


class FilledColumn:
    """A column of a row group, from its beginning to its end.

    Args:
        data: its pages, `heads` of which are the headers, a dictionary first if there is one.
        leaf: the column.
        codec: how pages are packed.
        read: for a column that is not understood after all: reads all of it.
    """

    def __init__(
        self,
        data: bytes,
        heads: Sequence[PageHead],
        leaf: FilledLeaf,
        codec: str,
        read: "Callable[[], pa.ChunkedArray]",
    ) -> None:
        self._data, self._leaf, self._read = memoryview(data), leaf, read
        self._codec = None if codec == "UNCOMPRESSED" else pa.Codec(codec.lower())
        self._is_snappy = codec == "SNAPPY"
        self._physical, self._dictionary = leaf.physical, list[Part]()
        self._values: Array | None = None
        self._values_held = 0
        self._heads = list(heads)
        if heads and heads[0].kind == DICTIONARY:
            self._dictionary = self._open_dictionary(self._heads.pop(0))
        self._heads.reverse()
        self._left: list[pa.Array] = []
        self._done = 0
        self._held: pa.Array | None = None

    def take(self, rows: int) -> "pa.ChunkedArray":
        """The next rows.

        Raises:
            OSError, pa.ArrowInvalid: Arrow does not understand a page, or there are fewer.
        """
        found: list[pa.Array] = []
        left = rows
        while left:
            if not self._left:
                self._left = self._decode_rows(left)
            part = self._left.pop(0)
            found.append(part.slice(0, left))
            if len(part) > left:
                self._left.insert(0, part.slice(left))
            left -= len(found[-1])
        return unite_parts(found, self._leaf)

    def list_left(self) -> list[PageHead]:
        """The headers of the pages of data that nothing was taken of, in order."""
        return self._heads[::-1]

    def is_coded(self) -> bool:
        """Whether all these pages hold places in a dictionary."""
        return bool(self._dictionary) and all(h.encoding in _CODES for h in self._heads)

    def look_up(self, places: Array, absent: Array | None = None) -> "pa.Array":
        """The values at some places in the dictionary; texts as the places, with it; NULL where a
        place is `absent` (None: none is).

        Raises:
            ValueError: there are fewer values; OSError, pa.ArrowInvalid: it is not understood.
        """
        if self._held is None:
            self._held = self._read_dictionary()
        used = places if absent is None else places[~absent]
        if len(used) and int(used.max()) >= len(self._held):
            raise ValueError("a dictionary has fewer values")
        if self._physical == BYTE_ARRAY:
            numbers = pa.array(places, pa.int32(), mask=absent)
            return pa.DictionaryArray.from_arrays(numbers, self._held)
        return self._held.take(pa.array(places, mask=absent))

    def _read_dictionary(self) -> "pa.Array":
        """The values of the dictionary; without one, none."""
        if not self._dictionary:
            return pa.array([], self._leaf.kind)
        _, body = self._dictionary
        kind = _PLAIN.get(self._physical)
        if kind is not None:  # a copy, as bytes begin anywhere
            return self._view(pa.array(np.frombuffer(body, kind).copy()))
        form = PageForm(self._physical, False, "UNCOMPRESSED", True)
        page = [write_head(len(body), self._values_held, PLAIN), body]
        file = pa.BufferReader(write_column(form, self._values_held, [], page))
        (found,) = pq.ParquetFile(file, pre_buffer=False).read(use_threads=False)
        texts: pa.Array = found.combine_chunks()
        if len(texts) != self._values_held:
            raise ValueError("a dictionary has fewer values than it says")
        return texts

    def _decode_rows(self, rows: int) -> "list[pa.Array]":
        """So many rows at least, from those that were decoded on."""
        heads, pages, count = self._heads, list[OpenPage](), 0
        if not heads:
            raise OSError("a column has fewer rows than its row group")
        try:
            while heads and count < rows:
                head = heads.pop()
                pages.append(self.open_page(head))
                count += head.values
            made = self.decode(pages)
        except (ValueError, OSError, pa.ArrowInvalid):
            heads.clear()  # whatever is wrong, Arrow says it of the file itself
            return list(self._read().slice(self._done).chunks)
        self._done += count
        return made

    def _view(self, values: "pa.Array") -> "pa.Array":
        """Values as Arrow reads them; whole numbers that became such of 32 bits stay so."""
        same = self._physical == BYTE_ARRAY or self._physical != self._leaf.physical
        return values if same or self._leaf.kind == values.type else values.view(self._leaf.kind)

    def decode(self, pages: Sequence[OpenPage]) -> "list[pa.Array]":
        """The values of pages of data; they may have some of no page behind them.

        Raises:
            ValueError, OSError, pa.ArrowInvalid: they are not understood.
        """
        if all(page.full for page in pages):
            return self._join_plain(pages) or self._join_runs(pages) or self._read_pages(pages)
        there = read_levels([(page.levels, page.values) for page in pages])
        counts = count_pages(there, [page.values for page in pages])
        some = [p._replace(values=n) for p, n in zip(pages, counts, strict=True) if n]
        made = self._join_plain(some) or self._read_pages(some) if some else []
        if len(made) > 1:
            raise ValueError("pages are decoded in several parts")
        return [
            spread_values(made[0] if made else self.look_up(np.zeros(0, dtype=np.int64)), there)
        ]

    def _join_plain(self, pages: Sequence[OpenPage]) -> "list[pa.Array] | None":
        """The values of pages that hold them one after the other (None: some do not)."""
        kind = _PLAIN.get(self._physical)
        if kind is None or any(page.encoding != PLAIN for page in pages):
            return None
        parts = [np.frombuffer(page.body, kind, page.values) for page in pages]
        # a copy, as bytes begin anywhere
        return [self._view(pa.array(np.concatenate(parts)))]

    def _join_runs(self, pages: Sequence[OpenPage]) -> "list[pa.Array] | None":
        """The values of pages by runs (None: that is not wanted, or they are of another kind)."""
        if self._values is None or any(page.encoding not in _CODES for page in pages):
            return None
        found = read_runs([(page.body, page.values) for page in pages])
        if found is None or not len(self._values) or int(found[0].max()) >= len(self._values):
            return None
        ends = pa.array(np.cumsum(found[1]), pa.int32())
        values = pa.array(self._values[found[0]]).view(self._leaf.kind)
        return [pa.RunEndEncodedArray.from_arrays(ends, values)]

    def _read_pages(self, pages: Sequence[OpenPage]) -> "list[pa.Array]":
        """The values of pages, by Arrow."""
        texts, parts = self._physical == BYTE_ARRAY, list[Part]()
        for page in pages:
            parts += [write_head(len(page.body), page.values, page.encoding), page.body]
        count = sum(page.values for page in pages)
        form = PageForm(self._physical, False, "UNCOMPRESSED", texts)
        file = pa.BufferReader(write_column(form, count, self._dictionary, parts))
        coded = ["a"] if texts else None
        opened = pq.ParquetFile(file, pre_buffer=False, read_dictionary=coded)
        made = [b.column(0) for b in opened.iter_batches(max(1, count), use_threads=False)]
        if sum(map(len, made)) != count:
            raise ValueError("pages have fewer rows than they say")
        return [self._view(values) for values in made]

    def open_page(self, head: PageHead) -> OpenPage:
        """A page of data, unpacked.

        Raises:
            ValueError: the page is not understood; pa.ArrowInvalid: it is not packed so.
        """
        packed = self._find_packed(head)
        if head.kind == DATA_2:
            if head.levels > min(len(packed), head.size):
                raise ValueError("a page is cut off")
            levels, packed = packed[: head.levels], packed[head.levels :]
            body = self._unpack(packed, head.size - head.levels, head.is_packed)
        else:
            body = self._unpack(packed, head.size, True)
            end = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
            levels, body = body[_LENGTH:end], body[end:]
        full = is_run(bytes(levels[:_LEVELS]), head.values)
        return OpenPage(head.values, head.encoding, levels, body, full)

    def _open_dictionary(self, head: PageHead) -> list[Part]:
        """The page of the dictionary; of whole numbers that fit into 32 bits, as such."""
        if head.encoding not in (PLAIN, PLAIN_DICTIONARY):
            raise ValueError("a dictionary is held in another way")
        packed = self._find_packed(head)
        plain, self._values_held = self._unpack(packed, head.size, True), head.values
        if self._leaf.runs and len(plain) == 8 * head.values:
            self._values = np.frombuffer(plain, "<i8")
        body: Part = plain
        if self._leaf.width:
            if not all(h.encoding in _CODES for h in self._heads):
                raise ValueError("some decimals are held in another way")
            if len(plain) != head.values * self._leaf.width:
                raise ValueError("a dictionary is cut off")
            body = read_units(plain, head.values, self._leaf.width).tobytes()
        elif pa.types.is_int64(self._leaf.kind) and all(h.encoding in _CODES for h in self._heads):
            narrow = _narrow(plain, head.values)
            if narrow is not None:
                self._physical, body = INT32, narrow
        return [write_head(len(body), head.values, None), body]

    def _find_packed(self, head: PageHead) -> memoryview:
        packed = self._data[head.begin : head.begin + head.packed]
        if len(packed) != head.packed:
            raise ValueError("a page is cut off")
        return packed

    def _unpack(self, packed: memoryview, size: int, is_packed: bool) -> memoryview:
        body = packed
        if self._codec is not None and is_packed and packed:
            # as bytes: a buffer of Arrow's takes longer to make
            body = memoryview(self._codec.decompress(packed, size, asbytes=True))
            if self._is_snappy and _snappy_size(packed) != size:
                raise ValueError("a page is of another size")
        if len(body) != size:
            raise ValueError("a page is cut off")
        return body


def unite_parts(parts: "list[pa.Array]", leaf: FilledLeaf) -> "pa.ChunkedArray":
    """Parts of a column as one; they are of several types where some were read by Arrow, or hold
    greater numbers."""
    if len({part.type for part in parts}) > 1:
        by_runs = pa.types.is_run_end_encoded
        parts = [pc.run_end_decode(p) if by_runs(p.type) else p for p in parts]
        parts = [part.cast(leaf.kind) for part in parts]
    return pa.chunked_array(parts)


def _snappy_size(packed: memoryview) -> int:
    """How many bytes Snappy says that it has packed; Arrow's codec asks for no fewer, and tells of
    no fewer."""
    size = shift = 0
    for byte in packed:
        size |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    return size


def _narrow(body: memoryview, count: int) -> bytes | None:
    """So many whole numbers of 64 bits in 32 (None: they do not fit)."""
    numbers = np.frombuffer(body, "<i8")
    if len(numbers) != count or not count:
        return None
    fits = int(numbers.min()) >= _LEAST and int(numbers.max()) <= -_LEAST - 1
    return numbers.astype("<i4").tobytes() if fits else None
