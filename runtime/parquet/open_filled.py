"""Columns of a row group that may be NULL and never are, which Arrow reads as columns that may not.

Pages of a column that may be NULL say of each value whether it is there, and Arrow looks at that
for value after value: that takes as long as to decode the values. Where pages say it of all their
values at once, they are given to Arrow without it. Whole numbers of 64 bits, of which the
dictionary has only numbers of 32, become such on the way.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.page_headers import DATA_2, DICTIONARY, PageHead, list_heads
from ontoweir.runtime.parquet.pick_texts import is_run
from ontoweir.runtime.parquet.read_decimals import are_coded, read_units
from ontoweir.runtime.parquet.read_runs import read_runs
from ontoweir.runtime.parquet.write_column import (
    BYTE_ARRAY,
    CODECS,
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
_MOST = 32 << 20
"""Unpacked bytes of a column that are in memory at once; longer ones are left to Arrow."""
_FEWEST = 4_096
"""Values of a page: where there are fewer, to take pages apart costs more than it saves."""
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


class FilledColumn:
    """A column of a row group, from its beginning to its end.

    Args:
        data: its pages, `heads` of which are the headers, a dictionary first if there is one.
        leaf: the column.
        codec: how pages are packed.
        read: for a column that has NULL, or is not understood, after all: reads all of it.
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
        self._physical, self._dictionary = leaf.physical, list[Part]()
        self._values: Array | None = None
        self._heads = list(heads)
        if heads and heads[0].kind == DICTIONARY:
            self._dictionary = self._open_dictionary(self._heads.pop(0))
        self._heads.reverse()
        self._left: list[pa.Array] = []
        self._done = 0

    def take(self, rows: int) -> "pa.ChunkedArray":
        """The next rows.

        Raises:
            OSError, pa.ArrowInvalid: Arrow does not understand a page, or there are fewer.
        """
        found: list[pa.Array] = []
        left = rows
        while left:
            if not self._left:
                self._left = self._decode(left)
            part = self._left.pop(0)
            found.append(part.slice(0, left))
            if len(part) > left:
                self._left.insert(0, part.slice(left))
            left -= len(found[-1])
        return _unite(found, self._leaf)

    def _decode(self, rows: int) -> "list[pa.Array]":
        """So many rows at least, from those that were decoded on."""
        heads, pages, count = self._heads, list[tuple[PageHead, memoryview]](), 0
        if not heads:
            raise OSError("a column has fewer rows than its row group")
        try:
            while heads and count < rows:
                head = heads.pop()
                pages.append((head, self._open(head)))
                count += head.values
            made = self._join_plain(pages) or self._join_runs(pages)
            made = made or self._read_pages(pages, count)
        except (ValueError, OSError, pa.ArrowInvalid):
            heads.clear()  # whatever is wrong, Arrow says it of the file itself
            return list(self._read().slice(self._done).chunks)
        self._done += count
        texts = self._physical == BYTE_ARRAY or pa.types.is_run_end_encoded(made[0].type)
        if texts or self._physical != self._leaf.physical or self._leaf.kind == made[0].type:
            return made
        return [values.view(self._leaf.kind) for values in made]

    def _join_plain(self, pages: Sequence[tuple[PageHead, memoryview]]) -> "list[pa.Array] | None":
        """The values of pages that hold them one after the other (None: some do not)."""
        kind = _PLAIN.get(self._physical)
        if kind is None or any(head.encoding != PLAIN for head, _ in pages):
            return None
        parts = [np.frombuffer(body, kind, head.values) for head, body in pages]
        return [pa.array(np.concatenate(parts))]  # a copy, as bytes begin anywhere

    def _join_runs(self, pages: Sequence[tuple[PageHead, memoryview]]) -> "list[pa.Array] | None":
        """The values of pages by runs (None: that is not wanted, or they are of another kind)."""
        if self._values is None or any(head.encoding not in _CODES for head, _ in pages):
            return None
        found = read_runs([(body, head.values) for head, body in pages])
        if found is None or not len(self._values) or int(found[0].max()) >= len(self._values):
            return None
        ends = pa.array(np.cumsum(found[1]), pa.int32())
        values = pa.array(self._values[found[0]]).view(self._leaf.kind)
        return [pa.RunEndEncodedArray.from_arrays(ends, values)]

    def _read_pages(
        self, pages: Sequence[tuple[PageHead, memoryview]], count: int
    ) -> "list[pa.Array]":
        """The values of pages, so many together, by Arrow."""
        texts, parts = self._physical == BYTE_ARRAY, list[Part]()
        for head, body in pages:
            parts += [write_head(len(body), head.values, head.encoding), body]
        form = PageForm(self._physical, False, "UNCOMPRESSED", texts)
        file = pa.BufferReader(write_column(form, count, self._dictionary, parts))
        coded = ["a"] if texts else None
        opened = pq.ParquetFile(file, pre_buffer=False, read_dictionary=coded)
        made = [b.column(0) for b in opened.iter_batches(max(1, count), use_threads=False)]
        if sum(map(len, made)) != count:
            raise ValueError("pages have fewer rows than they say")
        return made

    def _open(self, head: PageHead) -> memoryview:
        """What a page of data holds, but for its levels.

        Raises:
            ValueError: a value is NULL, or the page is not understood.
            pa.ArrowInvalid: it is not packed so.
        """
        packed = self._data[head.begin : head.begin + head.packed]
        if head.kind == DATA_2:
            if head.levels > min(len(packed), head.size):
                raise ValueError("a page is cut off")
            levels, packed = packed[: head.levels], packed[head.levels :]
            body = self._unpack(packed, head.size - head.levels, head.is_packed)
        else:
            body = self._unpack(packed, head.size, True)
            end = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
            levels, body = body[_LENGTH:end], body[end:]
        if not is_run(bytes(levels), head.values):
            raise ValueError("some values may be NULL")
        return body

    def _open_dictionary(self, head: PageHead) -> list[Part]:
        """The page of the dictionary; of whole numbers that fit into 32 bits, as such."""
        if head.encoding not in (PLAIN, PLAIN_DICTIONARY):
            raise ValueError("a dictionary is held in another way")
        packed = self._data[head.begin : head.begin + head.packed]
        plain = self._unpack(packed, head.size, True)
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

    def _unpack(self, packed: memoryview, size: int, is_packed: bool) -> memoryview:
        body = packed
        if self._codec is not None and is_packed and packed:
            body = memoryview(self._codec.decompress(packed, size))
            if self._codec.name == "snappy" and _snappy_size(packed) != size:
                raise ValueError("a page is of another size")
        if len(body) != size:
            raise ValueError("a page is cut off")
        return body


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
        return _unite(found, self._leaf)


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
        read: for a column that has NULL, or is not understood, after all: reads all of it, of a row
            group.

    Returns:
        None: a value is NULL, or the pages are not understood, too short or too long.

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
    said = chunk.statistics if chunk.is_stats_set else None
    if said is not None and said.has_null_count and said.null_count:
        return None
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


def _unite(parts: "list[pa.Array]", leaf: FilledLeaf) -> "pa.ChunkedArray":
    """Parts of a column, which are of several types where some were read by Arrow, or hold greater
    numbers."""
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
