"""The first of equal rows, and the order of all."""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import (
    DENSE,
    Array,
    codes_at,
    fresh_where_ordered,
    list_places,
    pack,
    starts_of_runs,
)


def first_rows(columns: Sequence[Array], rows: int) -> tuple[Array | None, Array | None]:
    """The first row of every distinct row of some columns, in their order (None: they are all
    rows as they are), and every row's place among these (None: each has its own).

    Args:
        columns: whole numbers, and others; the first one counts first.
        rows: how many there are.
    """
    refined = _refine(columns, rows)
    if refined is not None:
        return refined
    packed, size = pack(columns, rows)
    fresh = fresh_where_ordered(packed)
    if fresh is not None:
        first = np.flatnonzero(fresh)
        return (None, None) if len(first) == rows else (first, np.cumsum(fresh) - 1)
    if size <= DENSE * rows + 65_536:
        places = list_places(packed, size)
        first = np.empty(size, dtype=np.int64)
        first[packed[::-1]] = np.arange(rows - 1, -1, -1)
        first = first[places]
        return first, None if len(first) == rows else codes_at(packed, places, size)
    order = np.argsort(packed, kind="stable")
    return _tell(order, starts_of_runs(packed[order]))


def _refine(columns: Sequence[Array], rows: int) -> tuple[Array, Array | None] | None:
    """The same by the whole numbers that come first, and where these are equal, by the rest, whose
    order is costly to find (None: most of them are equal, or nothing else comes first)."""
    split = next((n for n, c in enumerate(columns) if c.dtype != np.int64), len(columns))
    if not 0 < split < len(columns) or not rows:
        return None
    packed, _ = pack(columns[:split], rows)
    order = np.argsort(packed, kind="stable")  # quick where time comes first
    fresh = starts_of_runs(packed[order])
    tied = ~fresh
    tied[:-1] |= tied[1:]
    places = np.flatnonzero(tied)
    if 2 * len(places) > rows:
        return None
    if len(places):
        some = order[places]
        runs = (np.cumsum(fresh) - 1)[places]
        rest, _ = pack([runs, *(column[some] for column in columns[split:])], len(some))
        within = np.argsort(rest, kind="stable")
        order[places] = some[within]
        fresh[places] = starts_of_runs(rest[within])
    return _tell(order, fresh)


def _tell(order: Array, fresh: Array) -> tuple[Array, Array | None]:
    """What is told of rows in their order, of which some differ from the one before."""
    starts = np.flatnonzero(fresh)
    if len(starts) == len(order):
        return order, None
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.cumsum(fresh) - 1
    return order[starts], codes
