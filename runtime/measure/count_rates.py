"""Count how many rows come in how much time, and compare that of two streams."""

import numpy as np

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.measure.measured import MeasuredRate, MeasuredRatio

SPANS = 512
"""Time is cut into at most so many spans."""
_SHARES = (0.5, 0.99, 0.999)
_SHORTEST = 20
"""Of so many bits is the length of the shortest span, in µs: about a second."""
_SIZES = 1 << 16
"""Of more different numbers of rows of a timestamp, such are counted together that lie close."""


class RateCounter:
    """The rows of a stream in spans of time of equal length, a power of two of µs, which doubles as
    time goes on; and how many rows timestamps have."""

    def __init__(self) -> None:
        self._bits, self._first = _SHORTEST, 0
        self._counts = np.zeros(0, dtype=np.int64)
        self._sizes, self._times = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, times: Array, first: Array) -> None:
        """More rows, whole timestamps in order (µs), each of which begins at one of `first`."""
        if not len(times):
            return
        sizes, count = np.unique(np.diff(np.append(first, len(times))), return_counts=True)
        every, places = np.unique(np.concatenate([self._sizes, sizes]), return_inverse=True)
        total = np.zeros(len(every), dtype=np.int64)
        np.add.at(total, places.reshape(-1), np.concatenate([self._times, count]))
        if len(every) > _SIZES:
            places = np.arange(0, len(every), 2)
            total = np.add.reduceat(total, places)
            every = every[np.minimum(places + 1, len(every) - 1)]
        self._sizes, self._times = every, total
        last = int(times[-1])
        if not len(self._counts):
            self._first = int(times[0])
        while (last >> self._bits) - (self._first >> self._bits) >= SPANS:
            self._counts = _halve(self._counts, self._first >> self._bits)
            self._bits += 1
        begin = self._first >> self._bits
        made = np.bincount((times >> self._bits) - begin)
        longer = np.zeros(max(len(made), len(self._counts)), dtype=np.int64)
        longer[: len(self._counts)] = self._counts
        longer[: len(made)] += made
        self._counts = longer

    def finish(self) -> MeasuredRate | None:
        """What was counted; None: no row came."""
        if not len(self._counts):
            return None
        seen = np.cumsum(self._times)
        places = [int(np.searchsorted(seen, np.ceil(share * seen[-1]))) for share in _SHARES]
        begin = self._first >> self._bits
        quantiles = tuple(int(self._sizes[place]) for place in places)
        return MeasuredRate(1 << self._bits, begin, tuple(self._counts.tolist()), quantiles)


def _halve(counts: Array, begin: int) -> Array:
    """Counts of spans that are twice as long; `begin`: the number of the first one before."""
    if not len(counts):
        return counts
    padded = np.concatenate([np.zeros(begin & 1, dtype=np.int64), counts])
    padded = np.append(padded, np.zeros(len(padded) & 1, dtype=np.int64))
    halved: Array = padded.reshape(-1, 2).sum(axis=1)
    return halved


def compare_rates(mine: MeasuredRate, others: MeasuredRate) -> MeasuredRatio | None:
    """How many rows of one stream there are for each of another, in the time that both have; None:
    there is none.

    The first and last span of either are left out of the least and the greatest, as they are cut
    off.
    """
    width = max(mine.width_us, others.width_us)
    one, two = (_widen(rate, width) for rate in (mine, others))
    begin = max(one[0], two[0])
    end = min(one[0] + len(one[1]), two[0] + len(two[1]))
    if begin >= end:
        return None
    left, right = (counts[begin - first : end - first] for first, counts in (one, two))
    if not left.sum() or not right.sum():
        return None
    overall = float(left.sum() / right.sum())
    left, right = left[1:-1], right[1:-1]
    both = (left > 0) & (right > 0)
    ratios = left[both] / right[both]
    least, most = (float(ratios.min()), float(ratios.max())) if len(ratios) else (None, None)
    alone = int(((left > 0) != (right > 0)).sum())
    return MeasuredRatio(overall, least, most, width, len(left), alone)


def _widen(rate: MeasuredRate, width: int) -> tuple[int, Array]:
    """The number of the first span, and the counts, of spans of a width."""
    begin, counts, mine = rate.begin, np.array(rate.counts, dtype=np.int64), rate.width_us
    while mine < width:
        counts, begin, mine = _halve(counts, begin), begin >> 1, 2 * mine
    return begin, counts
