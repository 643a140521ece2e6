"""Rows at some numbers, of rows that are held in pieces; and texts that are held so."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontoweir.runtime.pool.grow import Growing
from ontoweir.runtime.pool.hash_slots import Codes

_FEW = 16
"""Whether texts are of one length is looked at where at least one of so many is wanted."""
_BLOCK = 1 << 16
"""So many at a time."""
TEXT = pa.large_string()
"""The type of texts that are held: all together may be more than 2 GB."""
_ENDS = {TEXT: np.int64, pa.string(): np.int32}
"""How columns of texts say where each begins."""
_MOST = {TEXT: (1 << 63) - 1, pa.string(): (1 << 31) - 1}
"""So many bytes may they have."""


class GrowingTexts:
    """Texts that are appended, and found by their numbers. While all are of one length, as UUIDs,
    they are rows of bytes, and what is there is not copied for what comes; then they are pieces."""

    def __init__(self) -> None:
        self._count, self._width = 0, 0
        self._bytes: Growing | None = Growing(np.zeros(0, dtype=np.uint8))
        self._pieces: list[pa.LargeStringArray] = []
        self._starts: list[int] = []
        self._follows = False
        """Whether the bytes are another's, of which those here are the first."""

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes of all texts, and of where they begin."""
        if self._bytes is None:
            return sum(piece.nbytes for piece in self._pieces)
        return (self._width + 8) * self._count

    @property
    def whole(self) -> "pa.LargeStringArray":
        """All of them; the same array until some are appended."""
        if len(self._pieces) != 1:
            self._pieces = [self._join_rows(0) if self._bytes is not None else self._join_pieces()]
            self._starts = [0]
        return self._pieces[0]

    def append(self, texts: "pa.LargeStringArray") -> None:
        """Add some at the end, none of which is NULL."""
        if not len(texts):
            return
        width = None if self._bytes is None else find_width(texts)
        if self._bytes is not None and width is not None and self._width in (0, width):
            rows = view_rows(texts, width).reshape(-1)
            if self._follows:
                self._bytes, self._follows = Growing(self._rows().reshape(-1).copy()), False
            if self._count:
                self._bytes.append(rows)
                self._pieces = []
            else:  # are copied when others come
                self._bytes, self._width = Growing(rows), width
                self._pieces, self._starts = [texts], [0]
            self._count += len(texts)
            return
        if self._bytes is not None and self._count:
            _ = self.whole  # is the first piece from here on
        self._bytes = None
        self._starts.append(self._count)
        self._pieces.append(texts)
        self._count += len(texts)
        while len(self._pieces) > 1 and len(self._pieces[-2]) < 2 * len(self._pieces[-1]):
            self._pieces[-2:] = [pa.concat_arrays(self._pieces[-2:])]
            self._starts.pop()

    def follows(self, other: "GrowingTexts") -> bool:
        """Whether those at one place are the same ones here and there."""
        return self._bytes is not None and self._bytes is other._bytes

    def follow(self, other: "GrowingTexts", count: int) -> bool:
        """Have the first of another one's, so many, without a copy of their bytes. Those here are
        to be fewer, and the first of them. Whether that is so: here are none yet, or such alone,
        and all are of one length."""
        if other._bytes is None or not other._width or not self._count < count <= other._count:
            return False
        if self._count and not self.follows(other):
            return False
        self._bytes, self._width, self._count = other._bytes, other._width, count
        self._pieces, self._follows = [], True
        return True

    def take(self, places: Codes) -> "pa.LargeStringArray":
        """Those at some places."""
        if self._bytes is not None and self._width and len(places) and int(places.min()) >= 0:
            return _as_texts(np.take(self._rows(), places, axis=0))
        if len(self._pieces) < 2 or len(places) * _FEW > self._count:
            return take_texts(self.whole, places)
        return take_pieces(self._pieces, self._starts, places, _join)

    def since(self, place: int) -> "pa.LargeStringArray":
        """Those from a place on."""
        if self._bytes is not None and place and self._width:
            return self._join_rows(place)
        if len(self._pieces) > 1 and place >= self._starts[-1]:
            return self._pieces[-1].slice(place - self._starts[-1])
        return self.whole.slice(place)

    def _rows(self) -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
        assert self._bytes is not None
        return self._bytes.values[: self._count * self._width].reshape(-1, self._width)

    def _join_rows(self, place: int) -> "pa.LargeStringArray":
        return _as_texts(self._rows()[place:]) if self._width else pa.array([], TEXT)

    def _join_pieces(self) -> "pa.LargeStringArray":
        return _join(self._pieces)


def take_pieces(
    pieces: "Sequence[pa.Table | pa.Array]",
    starts: Sequence[int],
    numbers: Codes,
    join: "Callable[[list[pa.Table | pa.Array]], pa.Table | pa.Array]",
) -> "pa.Table | pa.Array":
    """The rows at some numbers, in the order of these; each piece is looked at once.

    Args:
        pieces: of a table, or of a column; at least one.
        starts: the number of each piece's first row, ascending from 0.
        numbers: of rows that are there; they may repeat.
        join: rows of several pieces (none: no row is wanted) as one.
    """
    if len(pieces) == 1:
        return pieces[0].take(pa.array(numbers))
    piece = np.searchsorted(starts, numbers, side="right") - 1
    order = np.argsort(piece, kind="stable")
    cuts = np.searchsorted(piece[order], np.arange(len(pieces) + 1))
    parts = [
        mine.take(pa.array(numbers[order[first:last]] - start))
        for mine, start, first, last in zip(pieces, starts, cuts[:-1], cuts[1:], strict=True)
        if last > first
    ]
    back = np.empty(len(numbers), dtype=np.int64)
    back[order] = np.arange(len(numbers))
    return join(parts).take(pa.array(back))


def take_texts(texts: "pa.Array", places: Codes) -> "pa.Array":
    """The texts at some places, of the same type. Those of one length, as UUIDs, are rows of bytes,
    which numpy picks in a fifth to a half of the time that Arrow takes."""
    rows = len(places)
    enough = rows * _FEW > len(texts) and not texts.null_count
    width = find_width(texts) if rows and enough else None
    if width is None or int(places.min()) < 0 or rows * width >= _MOST[texts.type]:
        return texts.take(pa.array(places))
    return _as_texts(np.take(view_rows(texts, width), places, axis=0), texts.type)


def view_rows(texts: "pa.Array", width: int) -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
    """Texts of one length, none of which is NULL, as rows of bytes."""
    content = texts.buffers()[2]
    first = int(_read_ends(texts)[0])
    return np.frombuffer(content, np.uint8, len(texts) * width, first).reshape(-1, width)


def _as_texts(
    held: "np.ndarray[tuple[int, int], np.dtype[np.uint8]]", kind: pa.DataType = TEXT
) -> "pa.Array":
    """Rows of bytes as texts, which see them."""
    rows, width = held.shape
    ends = np.arange(0, (rows + 1) * width, width, dtype=_ENDS[kind])
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(held)]
    return pa.Array.from_buffers(kind, rows, buffers, null_count=0)


def _join(parts: "list[pa.LargeStringArray]") -> "pa.LargeStringArray":
    """Some texts, one part after the other."""
    return pa.concat_arrays(parts) if parts else pa.array([], TEXT)


def find_width(texts: "pa.Array") -> int | None:
    """How many bytes every text has (None: they differ, or have none)."""
    ends = _read_ends(texts)
    width = int(ends[1] - ends[0])
    if not width or int(ends[-1] - ends[0]) != width * len(texts):
        return None
    for start in range(0, len(texts), _BLOCK):
        block = ends[start : start + _BLOCK + 1]
        if not (block[1:] - block[:-1] == width).all():
            return None
    return width


def _read_ends(texts: "pa.Array") -> "Codes | NDArray[np.int32]":
    """Where each of some texts begins, and the last one ends."""
    ends = np.frombuffer(texts.buffers()[1], dtype=_ENDS[texts.type])
    return ends[texts.offset : texts.offset + len(texts) + 1]
