"""Find the columns whose value says that of another one: functional dependencies."""

from collections.abc import Mapping, Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.measure.count_values import ValueCounter

CELLS = 1 << 24
"""So many values of columns are remembered with those of others."""
_SAMPLE = 1_000
"""Rows that are looked at first, as few pairs of columns survive them."""
_FIRST_ROWS = (64, _SAMPLE)
"""So many are looked at for all pairs at once."""
_UNKNOWN, _NULL = -2, -1


class DependencyFinder:
    """Pairs of columns, of which the first may determine the second, chunk by chunk: NULL is one of
    the second's values, and rows in which the first is NULL say nothing."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names: Sequence[str] | None = names
        self._open: dict[tuple[str, str], Array] = {}
        self.whole = True
        """Whether no pair was given up because there are too many values."""

    def add(self, counters: Mapping[str, ValueCounter]) -> None:
        """More rows, which the counters of the columns have just taken."""
        codes = {name: counter.codes for name, counter in counters.items()}
        if self._names is not None:
            self._begin(self._names, codes)
            self._names = None
        size = 0
        for pair in sorted(self._open, key=lambda p: len(self._open[p])):
            one, other = (codes[name] for name in pair)
            if one is None or other is None:
                # of a second column with more values than are counted, each of which the first
                # would need one for, nothing is lost
                self.whole &= one is not None
                del self._open[pair]
                continue
            known = self._follow(self._open[pair], one, other)
            if known is None:
                del self._open[pair]
                continue
            size += len(known)
            if size > CELLS:
                self.whole = False
                del self._open[pair]
                continue
            self._open[pair] = known

    def _begin(self, names: Sequence[str], codes: Mapping[str, Array | None]) -> None:
        """The pairs that the first rows leave open, of columns whose values are counted."""
        known = {name: found for name in names if (found := codes[name]) is not None}
        self.whole &= len(known) == len(names) or len(names) < 2
        if not known:
            return
        columns, nothing = list(known), np.zeros(0, dtype=np.int32)
        matrix = np.stack([known[name][:_SAMPLE] for name in columns], axis=1)
        for place, one in enumerate(columns):
            left = np.arange(len(columns)) != place
            for rows in _FIRST_ROWS:
                part = matrix[:rows]
                order = np.argsort(part[:, place], kind="stable")
                mine = part[order, place]
                same = (mine[1:] == mine[:-1]) & (mine[1:] != _NULL)
                others = np.flatnonzero(left)
                theirs = part[np.ix_(order, others)]
                left[others] = ~(theirs[1:] != theirs[:-1])[same].any(axis=0)
            for other in np.flatnonzero(left):
                self._open[one, columns[other]] = nothing

    def finish(self, counters: Mapping[str, ValueCounter]) -> tuple[tuple[str, str], ...]:
        """The pairs that say something: values of the first come again, twice on average, and the
        second has several."""
        return tuple(pair for pair in sorted(self._open) if _says(*(counters[n] for n in pair)))

    def _follow(self, known: Array, one: Array, other: Array) -> Array | None:
        """What is known after more rows; None: a value has been seen with two others."""
        for part in (slice(0, _SAMPLE), slice(_SAMPLE, None)):
            there = one[part] != _NULL
            mine, theirs = one[part][there], other[part][there]
            if not len(mine):
                continue
            most = int(mine.max()) + 1
            if most > len(known):
                more = np.full(most - len(known), _UNKNOWN, dtype=np.int32)
                known = np.concatenate([known, more])
            fresh = known[mine] == _UNKNOWN
            known[mine[fresh]] = theirs[fresh]
            if not np.array_equal(known[mine], theirs):
                return None
        return known


def _says(one: ValueCounter, other: ValueCounter) -> bool:
    if one.found is None or other.found is None or len(one.found) < 2:
        return False
    several = len(other.found) + bool(other.nulls) > 1
    return several and 2 * len(one.found) <= one.rows - one.nulls
