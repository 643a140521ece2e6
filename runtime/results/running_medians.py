"""Medians and other quantiles of groups that grow: order statistics of many prefixes."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ontoweir.errors import RunError
from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.columnar.runs import number_runs, running_sums

_MAX_INT64 = (1 << 63) - 1


class Rank(NamedTuple):
    """A place among values in order: where so many are below, a fraction from 0 to 1 of all (p),
    of n values the least that p · n of them are not greater than; or `between` values, at
    p · (n - 1), counted from 0. Or no place: `adds` asks for the sum of the distinct values."""

    fraction: Fraction
    between: bool = False
    adds: bool = False


class Ranked(NamedTuple):
    """The values at a place of every span: the lower and the upper one, and how far the place is
    from the lower one, of the fraction's denominator; or twice the sum of its distinct values, and
    how many these are."""

    low: Array
    high: Array
    share: Array


def find_ranked(
    values: Array, weights: Array, starts: Array, stops: Array, ranks: Sequence[Rank]
) -> tuple[list[Ranked], Array]:
    """The values at some places of every span of rows.

    Args:
        values: int64 or float64.
        weights: how often each value counts: whole numbers, which in no span add up to less than 0
            for any value.
        starts, stops: spans [start, stop) of rows; where distinct values are added, of those that
            overlap all have one start.
        ranks: the places.

    Returns:
        for each place its values, and which spans have rows: of others, they are any values.

    >>> values, weights = np.array([1, 4, 7]), np.array([1, 1, 1])
    >>> ranks = [Rank(Fraction(2, 5)), Rank(Fraction(2, 5), True)]
    >>> found, there = find_ranked(values, weights, np.array([0]), np.array([3]), ranks)
    >>> [(int(f.low[0]), int(f.high[0]), int(f.share[0])) for f in found], there
    ([(4, 4, 0), (1, 4, 4)], array([ True]))
    """
    total = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(weights)])
    count = total[stops] - total[starts]
    if len(values) == 0 or not ranks:
        nothing = np.zeros(len(starts), dtype=values.dtype)
        return [Ranked(nothing, nothing, np.zeros(len(starts), np.int64))] * len(ranks), count > 0
    if any(rank.adds for rank in ranks):
        added = _add_distinct(values, weights, starts, stops)
        rest = iter(
            find_ranked(values, weights, starts, stops, [r for r in ranks if not r.adds])[0]
        )
        return [added if rank.adds else next(rest) for rank in ranks], count > 0
    order = np.argsort(values)
    ordered = values[order]
    fresh = starts_of_runs(ordered)
    numbers = np.empty(len(values), dtype=np.int64)
    numbers[order] = number_runs(fresh)
    distinct = ordered[fresh]
    found = [_place(count, rank) for rank in ranks]
    places = [p for low, high, _ in found for p in ([low] if high is low else [low, high])]
    # all places at once
    low, high = (np.concatenate([side] * len(places)) for side in (starts, stops))
    chosen = _select(numbers, weights, low, high, np.concatenate(places))
    chosen = np.minimum(chosen, len(distinct) - 1)  # of empty spans, any
    there = iter(np.split(distinct[chosen], len(places)))
    made = []
    for lower, upper, share in found:
        first = next(there)
        made.append(Ranked(first, first if upper is lower else next(there), share))
    return made, count > 0


def _add_distinct(values: Array, weights: Array, starts: Array, stops: Array) -> Ranked:
    """Of every span, the sum and the number of the values whose weights add up to more than 0.

    A value is added at the row with which its weight since the start becomes more than 0, and taken
    away where that is no more so.

    Raises:
        RunError: a sum does not fit 64 bits.
    """
    runs = np.searchsorted(np.unique(starts), np.arange(len(values)), side="right")
    order = np.lexsort((values, runs))
    fresh = starts_of_runs(values[order]) | starts_of_runs(runs[order])
    total = running_sums(weights[order], fresh)
    there = (total > 0).astype(np.int64)
    change = np.empty(len(values), dtype=np.int64)
    change[order] = there - np.where(fresh, 0, np.append(0, there[:-1]))
    half = (1 << 32) - 1

    def add(numbers: Array) -> Array:
        sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(numbers)])
        found: Array = sums[stops] - sums[starts]
        return found

    low, high = add(change * (values & half)), add(change * (values >> 32))
    high += low >> 32
    if len(high) and (high.min() < -(1 << 31) or high.max() >= 1 << 31):
        raise RunError(
            "the sum of distinct values does not fit 64 bits",
            why="sums are 64-bit whole numbers (of decimals, in units of their last place)",
            fix="replay a shorter history, group by more columns, or declare fewer decimal places",
        )
    sums = (high << 32) + (low & half)
    return Ranked(sums, sums, add(change))


def _place(count: Array, rank: Rank) -> Ranked:
    """The places from 0 among so many values, and how far it is from the lower one to the place."""
    above, below = rank.fraction.numerator, rank.fraction.denominator
    most = int(count.max(initial=0))
    wide = count.astype(object) if most * above + below > _MAX_INT64 else count
    if not rank.between:
        place = (np.maximum(-((-above * wide) // below), 1) - 1).astype(np.int64)
        return Ranked(place, place, np.zeros(len(count), dtype=np.int64))
    exact = above * np.maximum(wide - 1, 0)
    low, share = (exact // below).astype(np.int64), (exact % below).astype(np.int64)
    return Ranked(low, low + (share > 0), share)


def _select(ranks: Array, weights: Array, low: Array, high: Array, places: Array) -> Array:
    """The rank at a place (from 0, counted by weights) among the ranks of rows [low, high), in
    order: a wavelet matrix, which is made and asked level by level, the highest bit first."""
    chosen = np.zeros(len(places), dtype=np.int64)
    for bit in range(int(ranks.max()).bit_length() - 1, -1, -1):
        zero = (ranks >> bit) & 1 == 0
        rows = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(zero)])
        light = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.where(zero, weights, 0))])
        below = light[high] - light[low]
        right = places >= below
        places = np.where(right, places - below, places)
        zeros = int(rows[-1])
        low = np.where(right, zeros + low - rows[low], rows[low])
        high = np.where(right, zeros + high - rows[high], rows[high])
        chosen |= right.astype(np.int64) << bit
        order = np.concatenate([np.flatnonzero(zero), np.flatnonzero(~zero)])
        ranks, weights = ranks[order], weights[order]
    return chosen
