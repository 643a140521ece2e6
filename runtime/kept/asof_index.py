"""How many events come before a moment: the as-of look-ups of the kernel."""

import numpy as np

from ontoweir.runtime.columnar.frame import LONG_AGO, Array

_TABLE = 8
"""Places of a table of ranks per event or look-up; more are searched."""


class AsOfIndex:
    """AsOfIndex in events sorted by (group, marker).

    Markers are counted from the first one, what is long ago coming before it; where they are far
    apart, their ranks are used. `order` sorts the events (None: they are sorted). Where groups and
    markers are many per look-up, ranks are found by binary search, otherwise read from a table.
    """

    def __init__(self, codes: Array, groups: int, events: Array, lookups: int) -> None:
        recent = events[events > LONG_AGO]
        low, high = (int(recent.min()), int(recent.max())) if len(recent) else (0, 0)
        self._low = low
        self._span = high - low + 3
        self._times: Array | None = None
        if self._span > _TABLE * (len(events) + lookups) + 65_536:
            self._times, inner = np.unique(events, return_inverse=True)
            self._span = len(self._times) + 1
            slots = inner.reshape(-1)
        else:
            slots = np.maximum(events - (low - 1), 0)
        key = codes * self._span + slots
        self.order: Array | None = None
        if not bool((key[1:] >= key[:-1]).all()):
            self.order = np.argsort(key, kind="stable")
            key = key[self.order]
        self._sorted, self._ends = key, None
        size = groups * self._span
        if size <= _TABLE * (len(events) + lookups) + 65_536:
            self._ends = np.zeros(size + 1, dtype=np.int64)
            np.cumsum(np.bincount(key, minlength=size), out=self._ends[1:])

    def rank(self, group: Array, before: Array) -> Array:
        """How many events come before (group, marker), all earlier groups included."""
        return self.rank_at(group, self.place(before))

    def place(self, before: Array) -> Array:
        """How many markers, or places for them, come before these."""
        if self._times is not None:
            return np.searchsorted(self._times, before, side="left")
        places = np.minimum(np.maximum(before - (self._low - 1), 1), self._span - 1)
        return np.where(before <= LONG_AGO, 0, places)

    def rank_at(self, group: Array, place: Array) -> Array:
        """How many events come before (group, the marker at a place)."""
        if self._ends is not None:
            positions: Array = self._ends[group * self._span + place]
            return positions
        return np.searchsorted(self._sorted, group * self._span + place, side="left")
