"""Which rows are at least as good as others, in all of several values: whole columns at a time.

Rows are in groups, in order; a row's place is counted in its group. Sorting and running minima see
one value; orders are halved again and again for the others, so that n rows with d values take about
n · log(n)^d steps, however many of them are best.
"""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import Array, pack, starts_of_runs
from ontoweir.runtime.columnar.runs import order_rows, running_least

_NONE = int(np.iinfo(np.int64).max)


def are_dominated(groups: Array, places: Array, values: Sequence[Array]) -> Array:
    """Whether an earlier row of the group is in no value greater: an array of truth values.

    Args:
        groups: int64, of every row; rows are sorted by them.
        places: int64, of every row in its group: 0, 1, …
        values: int64, at least two columns.
    """
    found = np.zeros(len(groups), dtype=np.bool_)
    for level in range(_levels(places)):
        right = (places >> level) & 1 == 1
        rows, asked = np.flatnonzero(~right), np.flatnonzero(right & ~found)
        halves = _segments(groups, places, level + 1)
        found[asked] = _reach(halves, values, rows, halves[asked], asked)
    return found


def first_dominators(groups: Array, places: Array, values: Sequence[Array]) -> Array:
    """The first later row of the group that is in no value greater (-1: there is none); arguments
    as of are_dominated."""
    count = len(groups)
    segment = np.full(count, -1, dtype=np.int64)
    depth = np.zeros(count, dtype=np.int64)
    levels = _levels(places)
    for level in range(levels):
        left = (places >> level) & 1 == 0
        rows, asked = np.flatnonzero(~left), np.flatnonzero(left & (segment < 0))
        halves = _segments(groups, places, level + 1)
        hit = asked[_reach(halves, values, rows, halves[asked], asked)]
        segment[hit], depth[hit] = (places[hit] >> level) + 1, level
    rows = np.arange(count)
    for level in range(levels - 2, -1, -1):  # down to the first of a segment that has some
        asked = np.flatnonzero((segment >= 0) & (depth > level))
        span = (int(places.max()) >> level) + 2
        there = groups * span + (places >> level)
        wanted = groups[asked] * span + 2 * segment[asked]
        hit = _reach(there, values, rows, wanted, asked)
        segment[asked] = 2 * segment[asked] + ~hit
    starts = np.flatnonzero(starts_of_runs(groups))
    begin = starts[np.cumsum(starts_of_runs(groups)) - 1]
    return np.where(segment < 0, -1, begin + segment)


def _levels(places: Array) -> int:
    return int(places.max(initial=0)).bit_length()


def _segments(groups: Array, places: Array, level: int) -> Array:
    """The number of each row's segment of 2^level places of its group."""
    segment = places >> level
    fresh = starts_of_runs(groups) | starts_of_runs(segment)
    return np.cumsum(fresh)


def _reach(
    segments: Array, values: Sequence[Array], rows: Array, wanted: Array, asked: Array
) -> Array:
    """Whether one of some rows in a wanted segment is in no value greater than a row that asks."""
    return _exists(segments[rows], [v[rows] for v in values], wanted, [v[asked] for v in values])


def _exists(
    segments: Array, points: Sequence[Array], wanted: Array, asked: Sequence[Array]
) -> Array:
    """As _reach, of points."""
    found = np.zeros(len(wanted), dtype=np.bool_)
    if len(segments) == 0 or len(wanted) == 0:
        return found
    if len(points) > 2:
        # where two numbers a < b have the same bits above one that is 0 in a and 1 in b
        last = int(max(points[0].max(), asked[0].max())) + 1
        for bit in range(last.bit_length()):
            rows = np.flatnonzero((points[0] >> bit) & 1 == 0)
            mine = np.flatnonzero(((asked[0] + 1) >> bit) & 1 == 1)
            high = [segments[rows], points[0][rows] >> bit + 1]
            more = [wanted[mine], (asked[0][mine] + 1) >> bit + 1]
            both = [np.concatenate(pair) for pair in zip(high, more, strict=True)]
            whole, _ = pack(both, len(rows) + len(mine))
            found[mine] |= _exists(
                whole[: len(rows)],
                [p[rows] for p in points[1:]],
                whole[len(rows) :],
                [p[mine] for p in asked[1:]],
            )
        return found
    segment = np.concatenate([segments, wanted])
    # of equal values, rows come before what asks for them
    value = np.concatenate([2 * points[0], 2 * asked[0] + 1])
    order = order_rows(*pack([segment, value], len(segment)))
    other = np.concatenate([points[1], np.full(len(wanted), _NONE, dtype=np.int64)])
    least = np.empty(len(segment), dtype=np.int64)
    least[order] = running_least(other[order], starts_of_runs(segment[order]))
    return least[len(segments) :] <= asked[1]
