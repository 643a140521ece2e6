"""Values of some rows of a row group whose pages hold places in a dictionary: pages without such a
row are not unpacked, and of the others the places of these rows alone are.

Where values hardly ever repeat, writers pack the places of a page in runs (Parquet's hybrid of RLE
and bit-packing) that are equally long, but for the last one. So it is known where the bits of each
place are, once the headers of the runs have been looked at. Other pages are given to Arrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.parquet.filled_column import FilledColumn, OpenPage
from ontoweir.runtime.parquet.read_levels import count_before, count_pages, read_levels

FEW = 8
"""Of rows of which at most one in so many is wanted, places are picked; of others Arrow unpacks all
in less time."""
_WIDEST = 32
_GROUP = 8
"""Places that are packed together; their bytes are as many as a place has bits."""
_WORD = 8
"""Bytes that are looked at for a place, with those before it in its first byte."""


class CodedPages:
    """Picks values out of a column of a row group, from its beginning to its end.

    Args:
        column: of which nothing was taken yet; all its pages hold places in its dictionary
            (`is_coded`).
    """

    def __init__(self, column: FilledColumn) -> None:
        self._column, self._heads = column, column.list_left()
        self._ends = np.cumsum([head.values for head in self._heads])
        self._opened: dict[int, OpenPage] = {}

    def pick(self, rows: Array) -> "pa.ChunkedArray":
        """The values of rows, by number, ascending: texts by their dictionary, whole numbers of 64
        bits maybe as such of 32.

        Raises:
            ValueError: pages are not understood, or there are fewer rows.
            OSError, pa.ArrowInvalid: Arrow does not understand a page.
        """
        if not len(rows):
            return pa.chunked_array([self._column.look_up(rows)])
        if not len(self._ends) or int(rows[-1]) >= self._ends[-1]:
            raise ValueError("a row group has fewer rows than it says")
        page = np.searchsorted(self._ends, rows, "right")
        numbers = page[starts_of_runs(page)]
        self._opened = {
            n: self._opened[n] if n in self._opened else self._column.open_page(self._heads[n])
            for n in numbers.tolist()
        }
        pages = list(self._opened.values())
        counts = np.array([p.values for p in pages], dtype=np.int64)
        which = np.searchsorted(numbers, page)
        mine = rows - (self._ends[numbers] - counts)[which]
        if FEW * len(rows) <= counts.sum():
            picked = self._pick_few(pages, counts, which, mine)
            if picked is not None:
                return pa.chunked_array([picked])
        decoded = pa.chunked_array(self._column.decode(pages))
        found: pa.ChunkedArray = decoded.take(pa.array(mine + (np.cumsum(counts) - counts)[which]))
        return found

    def _pick_few(
        self, pages: Sequence[OpenPage], counts: Array, which: Array, rows: Array
    ) -> "pa.Array | None":
        """As pick_places, the values, of pages that may have NULL."""
        bodies = [page.body for page in pages]
        if all(page.full for page in pages):
            places = pick_places(bodies, counts, which, rows)
            return None if places is None else self._column.look_up(places)
        there = read_levels([(page.levels, page.values) for page in pages])
        starts = np.cumsum(counts) - counts
        held = np.array(count_pages(there, counts.tolist()), dtype=np.int64)
        present = there[starts[which] + rows]
        which = which[present]
        rank = count_before(there, starts[which] + rows[present])
        rank -= (np.cumsum(held) - held)[which]
        used = which[starts_of_runs(which)]
        bodies = [bodies[n] for n in used]
        places = pick_places(bodies, held[used], np.searchsorted(used, which), rank)
        if places is None:
            return None
        every = np.zeros(len(rows), dtype=np.int64)
        every[present] = places
        return self._column.look_up(every, ~present)


@dataclass(frozen=True, slots=True)
class _Runs:
    """How the places of a page lie: bits of a place; bytes of the first header, and from one run to
    the next; places of a run."""

    bits: int
    head: int
    stride: int
    each: int


def pick_places(
    bodies: Sequence[memoryview], counts: Array, which: Array, rows: Array
) -> Array | None:
    """The places in a dictionary that some rows of pages have.

    Args:
        bodies: what each page holds; `counts`: how many places.
        which: of every row the number of its page, ascending; `rows`: its number in it.

    Returns:
        None: the places of a page are not packed in equally long runs, or not understood.

    >>> body = memoryview(bytes([4, 3, 0x10, 0x32, 0x54, 0x76, 3, 0x98, 0, 0, 0]))
    >>> pick_places([body], np.array([10]), np.array([0, 0, 0]), np.array([1, 7, 9])).tolist()
    [1, 7, 9]
    """
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    forms = [_find_form(body) for body in bodies]
    if any(form is None for form in forms):
        return None
    bits, head, stride, each = (
        np.array([getattr(form, name) for form in forms], dtype=np.int64)
        for name in ("bits", "head", "stride", "each")
    )
    sizes = np.array([len(body) for body in bodies])
    begin = np.cumsum(sizes) - sizes
    data = np.frombuffer(b"".join([*bodies, bytes(_WORD)]), np.uint8)
    if not _are_even(data, begin + 1, begin + sizes, counts, (bits, head, stride, each)):
        return None
    run, place = np.divmod(rows, each[which])
    bit = place * bits[which]
    byte = (begin + 1 + head)[which] + run * stride[which] + (bit >> 3)
    words = np.ndarray((len(data) - _WORD + 1,), "<u8", data, 0, (1,))
    masks = (np.uint64(1) << bits.astype(np.uint64)) - np.uint64(1)
    found: Array = words[byte] >> (bit & 7).astype(np.uint64) & masks[which]
    return found.astype(np.int64, copy=False)


def _find_form(body: memoryview) -> _Runs | None:
    """How the places of a page lie, if its first run is packed and the others are like it."""
    if len(body) < 2 or not 1 <= body[0] <= _WIDEST:
        return None
    header = length = 0
    for byte in body[1 : 1 + 5]:
        header |= (byte & 127) << 7 * length
        length += 1
        if byte < 128:
            break
    groups = header >> 1
    if not header & 1 or not groups:
        return None
    return _Runs(body[0], length, length + groups * body[0], groups * _GROUP)


def _are_even(
    data: Array, begin: Array, end: Array, counts: Array, form: tuple[Array, Array, Array, Array]
) -> bool:
    """Whether pages are runs as their first ones say, and have all places.

    Args:
        data: the pages; `begin`, `end`: where each begins, without the bits of its places, and
            ends.
        counts: places of each.
        form: _Runs of each, by columns.
    """
    bits, head, stride, each = form
    runs = -(-counts // each)
    last = begin + (runs - 1) * stride
    left = counts - (runs - 1) * each
    if (last + head + -(-left * bits // 8) > end).any() or (counts < 1).any():
        return False
    several = np.flatnonzero(runs > 1)
    if not len(several):
        return True
    if (head[several] != 1).any():
        return False
    ends = data[last[several]].astype(np.int64)
    if not ((ends & 1) & (ends < 128)).all() or ((ends >> 1) * _GROUP < left[several]).any():
        return False
    between = runs[several] - 1
    of = np.repeat(several, between)
    number = np.arange(len(of)) - np.repeat(np.cumsum(between) - between, between)
    return bool((data[begin[of] + number * stride[of]] == data[begin[of]]).all())
