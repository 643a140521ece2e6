"""Rows of all keys, one key after the other, each in order of time."""

from dataclasses import dataclass

import numpy as np

from ontoweir.runtime.columnar.frame import Array

_SHORT = 1 << 16


@dataclass(frozen=True, slots=True)
class Places:
    """`order`: which row is at each place; `start`: of each place, that of the first row of its
    key; `head`: whether it is a row that was kept, the first of its key."""

    order: Array
    start: Array
    head: Array

    @property
    def end(self) -> Array:
        """Of each place, that of the last row of its key."""
        places = np.arange(len(self.order))
        if not len(places):
            return places
        last = np.append(self.start[1:] != self.start[:-1], True)
        made: Array = np.minimum.accumulate(np.where(last, places, len(places))[::-1])[::-1]
        return made

    def last_ones(self, rows: int) -> Array:
        """The places of the last rows of each key, so many of each at most."""
        return np.flatnonzero(self.end - np.arange(len(self.order)) < rows)


def place_rows(codes: Array, count: int, held: int) -> Places:
    """The places of rows.

    Args:
        codes: of the key of each row; those that were kept come first, and the rows of a key in
            order of time.
        count: how many keys there are.
        held: how many rows were kept.
    """
    # numpy sorts short numbers by their digits
    order = np.argsort(codes.astype(np.uint16) if count <= _SHORT else codes, kind="stable")
    sorted_codes = codes[order]
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = sorted_codes[1:] != sorted_codes[:-1]
    start = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    return Places(order, start, fresh & (order < held))


class TimesAt:
    """The times of rows at places, to find others of their keys by.

    Args:
        places: of the rows.
        times: of the rows, in their own order (µs).
    """

    def __init__(self, places: Places, times: Array) -> None:
        self._sorted = times[places.order]
        self._moments = np.unique(self._sorted)
        key = np.cumsum(places.start == np.arange(len(places.order))) - 1
        self._base = key * (len(self._moments) + 1)
        self._codes = self._base + np.searchsorted(self._moments, self._sorted)

    def first_since(self, at: Array, span_us: int) -> Array:
        """The places of the first rows of the same keys that are not longer before those at some
        places."""
        since = np.searchsorted(self._moments, self._sorted[at] - span_us)
        made: Array = np.searchsorted(self._codes, self._base[at] + since)
        return made

    def last_until(self, at: Array, span_us: int) -> Array:
        """The places of the last rows of the same keys that are so long before those at some
        places, or longer; else those before the first of the key."""
        until = np.searchsorted(self._moments, self._sorted[at] - span_us, side="right") - 1
        made: Array = np.searchsorted(self._codes, self._base[at] + until, side="right") - 1
        return made
