"""Columnar frames and the relational primitives a kernel is composed of.

A frame is a bag of rows: equally long numpy columns, by name. A name is the kind of the column, and
what tells it from others of its kind (columns.py makes them).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ontoweir.errors import RunError

Array: TypeAlias = NDArray[Any]


class ColumnKind(StrEnum):
    """What a column of a frame holds; its text stands in checkpoints."""

    EVENT = "e"
    """The marker a match was completed at (int64, steps); one column."""
    WEIGHT = "w"
    """How many matches the row stands for (int64); one column."""
    STAMP = "t"
    """A kept timestamp (int64, steps), by member."""
    VALUE = "v"
    """A value (int64 in units, or float64 where it is dense), by value class."""
    FRONTIER = "f"
    """A frontier value, less is better (int64, or float64 where dense), by its place."""
    PAST_FRONTIER = "p"
    """A frontier value of a table that was joined, by the table's members and its place."""
    TOTAL = "s"
    """A sum of something over what the weight counts (int64 or float64), by fold."""
    UNTIL = "until"
    """The last marker at which a row is the best, or needed (int64, steps); one column."""
    SLOT = "slot"
    """The place of a row among those of its key (int64); one column."""


Name: TypeAlias = tuple[Any, ...]
"""A ColumnKind, and what tells the column from others of its kind."""

EVENT: Name = (ColumnKind.EVENT,)
WEIGHT: Name = (ColumnKind.WEIGHT,)
UNTIL: Name = (ColumnKind.UNTIL,)
SLOT: Name = (ColumnKind.SLOT,)
LONG_AGO = -(1 << 60)
"""The timestamp of what was settled before all markers of a chunk."""

_LIMIT = float(1 << 62)
"""Totals beyond this are looked at one by one: whether each fits 64 bits."""
_MIN_INT64, _MAX_INT64 = -(1 << 63), (1 << 63) - 1
_WIDE = 1 << 62
DENSE = 8
"""Tables with up to this many places per row are used instead of sorting."""
_EACH, _MORE = 8, 4_096
"""In the first rows, so many for each number and some more, all numbers often occur."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A bag of `rows` rows."""

    rows: int
    columns: Mapping[Name, Array]

    def __getitem__(self, name: Name) -> Array:
        return self.columns[name]

    def column(self, name: Name) -> Array:
        """A column."""
        return self.columns[name]

    @property
    def names(self) -> list[Name]:
        """The names of the columns."""
        return list(self.columns)

    @property
    def nbytes(self) -> int:
        """Bytes of the columns."""
        return sum(column.nbytes for column in self.columns.values())

    def take(self, index: Array) -> "Frame":
        """The rows at (or under a mask of) `index`."""
        rows = int(index.sum()) if index.dtype == np.bool_ else len(index)
        return Frame(rows, {n: _take(c, index, rows) for n, c in self.columns.items()})

    def select(self, names: Sequence[Name]) -> "Frame":
        """Only these columns."""
        return Frame(self.rows, {name: self.columns[name] for name in names})

    def with_columns(self, more: Mapping[Name, Array]) -> "Frame":
        """With columns added or replaced."""
        return Frame(self.rows, {**self.columns, **more})


def ones(rows: int) -> Array:
    """The weights of rows that stand for one match each: one number, seen at every row."""
    return np.broadcast_to(np.int64(1), (rows,))


def _take(column: Array, index: Array, rows: int) -> Array:
    """The rows of a column; one number that is seen at every row stays one."""
    single = len(column) and not column.strides[0]
    taken: Array = np.broadcast_to(column[0], (rows,)) if single else column[index]
    return taken


def concat(frames: Sequence[Frame]) -> Frame:
    """One bag of all rows; the frames have the same columns."""
    if len(frames) == 1:
        return frames[0]
    names = list(frames[0].columns)
    return Frame(
        sum(f.rows for f in frames),
        {name: np.concatenate([f.columns[name] for f in frames]) for name in names},
    )


def pack(columns: Sequence[Array], rows: int) -> tuple[Array, int]:
    """A number per row, at least 0 and less than the size returned, that differs between distinct
    rows of some columns, and orders them as the columns do, the first one first."""
    packed: Array | None = None
    size = 1
    for column in columns if rows else ():
        inner, span = _offsets(column)
        if span == 1:  # it tells nothing apart
            continue
        if span > rows and (fresh := fresh_where_ordered(column)) is not None:
            inner = np.cumsum(fresh) - 1  # of times in order few numbers suffice
            span = int(inner[-1]) + 1
        elif span > rows:
            inner, span = _in_units(inner, span)
        if size * span > _WIDE:
            _, inner = np.unique(column, return_inverse=True)
            inner = inner.reshape(-1)
            span = int(inner.max()) + 1
        if packed is not None and size * span > _WIDE:
            _, packed = np.unique(packed, return_inverse=True)
            packed = packed.reshape(-1)
            size = int(packed.max()) + 1
        packed = inner if packed is None else packed * span + inner
        size *= span
    return (np.zeros(rows, dtype=np.int64) if packed is None else packed), size


def _offsets(column: Array) -> tuple[Array, int]:
    """A column's whole numbers counted from their least; a span too wide to use for others."""
    if column.dtype != np.int64:
        return column, _WIDE + 1
    low, high = int(column.min()), int(column.max())
    span = high - low + 1
    return (column - low if low and 1 < span <= _WIDE else column), span


def _in_units(offsets: Array, span: int) -> tuple[Array, int]:
    """Numbers less than a span, the least of which is 0, divided by what divides all of them, as
    times of a stream are of its unit."""
    if offsets.dtype != np.int64 or span > _WIDE:
        return offsets, span
    unit = int(np.gcd.reduce(offsets[:_EACH]))
    if unit < 2:
        return offsets, span
    units = offsets // unit
    if not (units * unit == offsets).all():
        return offsets, span
    return units, (span - 1) // unit + 1


def group_codes(columns: Sequence[Array], rows: int) -> tuple[Array, int]:
    """A dense code per distinct row of some columns, and how many there are; codes are in the
    order of the columns."""
    if rows == 0 or not columns:
        return np.zeros(rows, dtype=np.int64), 1 if rows else 0
    packed, size = pack(columns, rows)
    if size <= DENSE * rows + 65_536:
        places = list_places(packed, size)
        return codes_at(packed, places, size), len(places)
    fresh = fresh_where_ordered(packed)
    if fresh is not None:
        codes = np.cumsum(fresh) - 1
        return codes, int(codes[-1]) + 1
    bits = rows.bit_length()
    if size << bits > _WIDE:
        uniques, codes = np.unique(packed, return_inverse=True)
        return codes.reshape(-1).astype(np.int64, copy=False), len(uniques)
    ordered = np.arange(rows)
    ordered |= packed << bits
    ordered.sort()  # twice as fast as to sort the rows' indices, and then the numbers
    places = ordered & ((1 << bits) - 1)
    ordered >>= bits
    codes = np.empty(rows, dtype=np.int64)
    codes[places] = number = np.cumsum(starts_of_runs(ordered)) - 1
    return codes, int(number[-1]) + 1


def list_places(packed: Array, size: int) -> Array:
    """The numbers less than `size` that occur, in order."""
    occurs = np.zeros(size, dtype=np.bool_)
    part = _EACH * size + _MORE
    occurs[packed[:part]] = True
    if part < len(packed) and not occurs.all():
        occurs[packed[part:]] = True
    return np.flatnonzero(occurs)


def codes_at(packed: Array, places: Array, size: int) -> Array:
    """The index of every number among the places where numbers are."""
    if len(places) == size:
        return packed
    codes = np.empty(size, dtype=np.int64)
    codes[places] = np.arange(len(places))
    dense: Array = codes[packed]
    return dense


def list_true(mask: Array) -> Array:
    """The rows of a mask, by number: numpy's flatnonzero, which is slow just where somewhat less
    than a tenth of the rows are meant, as it then looks for one after the other."""
    rows = len(mask)
    count = int(np.count_nonzero(mask))
    if count > rows // 10 or count < rows // 25:
        return np.flatnonzero(mask)
    more = np.ones(rows + rows // 8, dtype=np.bool_)
    more[:rows] = mask
    return np.flatnonzero(more)[:count]


def starts_of_runs(ordered: Array) -> Array:
    """Which of some numbers differ from the one before: where a run of equal ones starts (mask)."""
    fresh = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return fresh


def fresh_where_ordered(packed: Array) -> Array | None:
    """Which numbers differ from the one before (None: they are not in order)."""
    return starts_of_runs(packed) if bool((packed[1:] >= packed[:-1]).all()) else None


def first_of(codes: Array, count: int) -> Array:
    """The index of the first row of every code, each of which some row has."""
    first = np.full(count, len(codes), dtype=np.int64)
    part = min(_EACH * count + _MORE, len(codes))
    first[codes[:part][::-1]] = np.arange(part - 1, -1, -1)
    if part < len(codes) and first.max(initial=0) == len(codes):
        first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first


def last_of(codes: Array, count: int) -> Array:
    """The index of the last row of every code, each of which some row has."""
    return len(codes) - 1 - first_of(codes[::-1], count)


class TooGreat(RunError):
    """A number of matches, or a sum, that does not fit 64 bits; `step`: when (None: not known)."""

    step: int | None = None


def too_great(step: int | None, when: str = "") -> TooGreat:
    """The error of a number of matches, or a sum over them, that does not fit."""
    error = TooGreat(
        f"a number of matches, or a sum over them, does not fit 64 bits{when}",
        why="multiplicities and sums are 64-bit whole numbers",
        fix="replay a shorter history, add a window, or select DISTINCT",
    )
    error.step = step
    return error


def fit_totals(totals: Array, events: Array | None = None) -> Array:
    """Totals that are Python's whole numbers as those of 64 bits.

    Raises:
        TooGreat: one does not fit; of those, at the first of the events.
    """
    if totals.dtype != object:
        return totals
    over = ((totals < _MIN_INT64) | (totals > _MAX_INT64)).astype(np.bool_)
    if over.any():
        raise too_great(None if events is None else int(events[over].min()))
    return totals.astype(np.int64)


def add_up(values: Array, codes: Array, count: int, events: Array | None = None) -> Array:
    """The sums of values by code; `events`: of every code.

    Raises:
        TooGreat: a sum does not fit 64 bits.
    """
    if len(values) and values.dtype == np.int64 and _extremes(values) == (1, 1):
        return np.bincount(codes, minlength=count)
    near = sum_sizes(values) <= _LIMIT
    totals = np.zeros(count, dtype=np.int64 if near else object)
    np.add.at(totals, codes, values if near else values.astype(object))
    return fit_totals(totals, events)


def sum_sizes(values: Array) -> float:
    """About the sum of some numbers' absolute values."""
    if values.dtype == np.int64 and len(values):
        low, high = _extremes(values)
        if low >= 0 and high * len(values) <= _MAX_INT64:
            return float(values.sum() if values.strides[0] else high * len(values))
    return float(np.sum(np.abs(values.astype(np.float64))))


def _extremes(values: Array) -> tuple[int, int]:
    """The least and the greatest of some whole numbers."""
    some = values if values.strides[0] else values[:1]
    return int(some.min()), int(some.max())


def multiply(left: Array, right: Array, events: Array | None = None) -> Array:
    """Products of weights or sums.

    Raises:
        TooGreat: a product does not fit 64 bits.
    """
    if len(left) == 0:
        return fit_totals(left) * right
    greatest = [np.abs(side.astype(np.float64)).max() for side in (left, right)]
    if float(greatest[0] * greatest[1]) <= _LIMIT:
        return fit_totals(left, events) * right
    return fit_totals(left.astype(object) * right.astype(object), events)


def sums_of(frame: Frame) -> list[Name]:
    """The names of a frame's sums."""
    return [name for name in frame.columns if name[0] == ColumnKind.TOTAL]


def join_weights(left: Frame, right: Frame, index: Array) -> dict[Name, Array]:
    """Weights and sums of the pairs of every row of `left` with the row `index` of `right`:
    the pairs of c and d tuples are c·d, and what sums to s over the c sums to s·d over them."""
    mine, theirs = left[WEIGHT], right[WEIGHT][index]
    events = left.columns.get(EVENT)
    products = {WEIGHT: multiply(mine, theirs, events)}
    for name in sums_of(left):
        products[name] = multiply(left[name], theirs, events)
    for name in sums_of(right):
        products[name] = multiply(right[name][index], mine, events)
    return products


def pair_up(
    left: Sequence[Array], right: Sequence[Array], left_rows: int, right_rows: int
) -> tuple[Array, Array, Array]:
    """The equi-join of two lists of columns as runs: (order, start, length): the partners of left
    row i are right rows order[start[i] : start[i] + length[i]]."""
    if not left:
        start = np.zeros(left_rows, dtype=np.int64)
        return np.arange(right_rows), start, np.full(left_rows, right_rows, dtype=np.int64)
    both = [np.concatenate([a, b]) for a, b in zip(left, right, strict=True)]
    codes, count = group_codes(both, left_rows + right_rows)
    mine, other = codes[:left_rows], codes[left_rows:]
    order = np.argsort(other, kind="stable")
    length = np.bincount(other, minlength=count)
    ends = np.cumsum(length)
    return order, (ends - length)[mine], length[mine]


def expand(start: Array, length: Array) -> tuple[Array, Array]:
    """For runs start[i] .. start[i] + length[i]: (i repeated, the positions)."""
    if len(length) == 0 or int(length.max()) <= 1:
        index = np.flatnonzero(length)
        return index, start[index]
    index = np.repeat(np.arange(len(length)), length)
    ends = np.cumsum(length)
    offset = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - length, length)
    return index, start[index] + offset
