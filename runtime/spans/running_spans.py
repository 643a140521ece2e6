"""What holds at each of many moments, of rows that hold for spans of them.

The moments of a group follow each other, and a row holds at the moments [begin, end) of one group.
"""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.columnar.runs import running_greatest
from ontoweir.runtime.results.running_medians import Rank, Ranked, find_ranked


def sum_spans(begin: Array, end: Array, values: Array, moments: int) -> Array:
    """The sum of the rows that hold, at each of so many moments; what does not fit 64 bits wraps,
    and is right again where the sum fits.

    >>> sum_spans(np.array([0, 1]), np.array([2, 3]), np.array([5, 7]), 4)
    array([ 5, 12,  7,  0])
    """
    changes = np.zeros(moments + 1, dtype=np.int64)
    np.add.at(changes, begin, values)
    np.subtract.at(changes, end, values)
    return np.cumsum(changes[:-1])


def best_of_spans(
    begin: Array, end: Array, values: Array, moments: int, *, greatest: bool
) -> Array:
    """The least, or the greatest, value of the rows that hold, at each of so many moments; where
    none does, any.

    >>> best_of_spans(np.array([0, 1]), np.array([2, 3]), np.array([5, 7]), 3, greatest=True)
    array([5, 7, 7])
    """
    choose = np.maximum if greatest else np.minimum
    if values.dtype == np.float64:
        values, worst = values + 0.0, -np.inf if greatest else np.inf  # -0.0 is 0.0
    else:
        limits = np.iinfo(np.int64)
        worst = limits.min if greatest else limits.max
    best = np.full(moments, worst, dtype=values.dtype)
    # a span is two, which may overlap, of the greatest power of 2 that it is not shorter than
    levels = np.frexp((end - begin).astype(np.float64))[1] - 1
    for level in range(int(levels.max(initial=-1)), -1, -1):
        mine = np.flatnonzero(levels == level)
        choose.at(best, begin[mine], values[mine])
        choose.at(best, end[mine] - (1 << level), values[mine])
        if level:
            half = 1 << (level - 1)
            halved = best.copy()
            choose(halved[half:], best[:-half], out=halved[half:])
            best = halved
    return best


def count_distinct(begin: Array, end: Array, codes: Array, moments: int) -> Array:
    """How many distinct values the rows have that hold, at each of so many moments.

    Args:
        begin, end: where rows hold.
        codes: of every row, its group and its value.
        moments: how many there are.
    """
    order = np.lexsort((begin, codes))
    begin, end, first = begin[order], end[order], starts_of_runs(codes[order])
    reach = running_greatest(end, first)
    first[1:] |= begin[1:] > reach[:-1]
    starts = np.flatnonzero(first)
    ends = reach[np.append(starts[1:], len(first)) - 1] if len(starts) else starts
    return sum_spans(begin[starts], ends, np.ones(len(starts), dtype=np.int64), moments)


def rank_spans(
    begin: Array,
    end: Array,
    counted: tuple[Array, Array],
    first: Array,
    ranks: Sequence[Rank],
) -> tuple[list[Ranked], Array]:
    """For several places the values there among those of the rows that hold, at each moment, and at
    which moments there are any (find_ranked).

    Args:
        begin, end: where rows hold.
        counted: values (int64 or float64), and how often each counts.
        first: a mask of the moments: where groups begin.
        ranks: the places.
    """
    values, weights = counted
    moments = len(first)
    starts = np.append(np.flatnonzero(first), moments)
    left = np.flatnonzero(end < starts[np.searchsorted(starts, begin, side="right")])
    at = np.concatenate([begin, end[left]])
    order = np.argsort(at, kind="stable")
    at = at[order]
    held = np.concatenate([values, values[left]])[order]
    counts = np.concatenate([weights, -weights[left]])[order]
    group = np.flatnonzero(first)[np.cumsum(first) - 1]
    until = np.searchsorted(at, np.arange(moments), side="right")
    return find_ranked(held, counts, np.searchsorted(at, group), until, ranks)
