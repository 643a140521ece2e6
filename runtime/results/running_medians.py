"""Medians and other quantiles of groups that grow: order statistics of many prefixes."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.columnar.runs import number_runs

_MAX_INT64 = (1 << 63) - 1


def find_ranked(
    values: Array,
    weights: Array,
    starts: Array,
    stops: Array,
    fractions: Sequence[Fraction | None],
) -> tuple[list[tuple[Array, Array]], Array]:
    """Of every span of rows, for each fraction the least value that this fraction of all its values
    is not greater than; of None the lower and the upper value in the middle.

    Args:
        values: int64 or float64.
        weights: how often each value counts: whole numbers, which in no span add up to less than 0
            for any value.
        starts, stops: spans [start, stop) of rows.
        fractions: from 0 to 1.

    Returns:
        of each fraction the values, twice, or the lower and the upper ones; and which spans have
        rows: of others, they are any values.

    >>> values, weights = np.array([1, 4, 7]), np.array([1, 1, 1])
    >>> find_ranked(values, weights, np.array([0]), np.array([3]), [Fraction(1, 3), Fraction(2, 5)])
    ([(array([1]), array([1])), (array([4]), array([4]))], array([ True]))
    """
    total = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(weights)])
    count = total[stops] - total[starts]
    if len(values) == 0 or not fractions:
        nothing = np.zeros(len(starts), dtype=values.dtype)
        return [(nothing, nothing)] * len(fractions), count > 0
    order = np.argsort(values)
    ordered = values[order]
    fresh = starts_of_runs(ordered)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = number_runs(fresh)
    distinct = ordered[fresh]
    places = [p for fraction in fractions for p in _places(count, fraction)]
    # all places at once
    low, high = (np.concatenate([side] * len(places)) for side in (starts, stops))
    chosen = _select(ranks, weights, low, high, np.concatenate(places))
    chosen = np.minimum(chosen, len(distinct) - 1)  # of empty spans, any
    found = iter(np.split(distinct[chosen], len(places)))
    made = []
    for fraction in fractions:
        first = next(found)
        made.append((first, next(found) if fraction is None else first))
    return made, count > 0


def _places(count: Array, fraction: Fraction | None) -> list[Array]:
    """The places of a fraction of so many values, from 0; of the middle both, which may be one."""
    if fraction is None:
        return [np.maximum(count - 1, 0) // 2, count // 2]
    above, below = fraction.numerator, fraction.denominator
    most = int(count.max(initial=0))
    wide = count.astype(object) if most * above + below > _MAX_INT64 else count
    place = np.maximum(-((-above * wide) // below), 1) - 1
    return [place.astype(np.int64)]


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
