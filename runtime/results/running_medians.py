"""Values on both sides of the middle of groups that grow: order statistics of many prefixes."""

import numpy as np

from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.columnar.runs import number_runs


def find_middles(
    values: Array, weights: Array, starts: Array, stops: Array
) -> tuple[Array, Array, Array]:
    """Of every span of rows, the lower and the upper value in the middle of its values in order.

    Args:
        values: int64 or float64.
        weights: how often each value counts: whole numbers, which in no span add up to less than 0
            for any value.
        starts, stops: spans [start, stop) of rows.

    Returns:
        the lower values, the upper ones, and which spans have rows; of others, any values.

    >>> values, weights = np.array([1, 4, 4]), np.array([1, 1, 1])
    >>> find_middles(values, weights, np.array([0, 0]), np.array([2, 3]))
    (array([1, 4]), array([4, 4]), array([ True,  True]))
    """
    spans = len(starts)
    total = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(weights)])
    count = total[stops] - total[starts]
    if len(values) == 0:
        nothing = np.zeros(spans, dtype=values.dtype)
        return nothing, nothing, np.zeros(spans, dtype=np.bool_)
    order = np.argsort(values)
    ordered = values[order]
    fresh = starts_of_runs(ordered)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = number_runs(fresh)
    distinct = ordered[fresh]
    # both places at once: the lower middle is number (count - 1) // 2 from 0, the upper count // 2
    places = np.concatenate([np.maximum(count - 1, 0) // 2, count // 2])
    low, high = np.concatenate([starts, starts]), np.concatenate([stops, stops])
    chosen = _select(ranks, weights, low, high, places)
    chosen = np.minimum(chosen, len(distinct) - 1)  # of empty spans, any
    return distinct[chosen[:spans]], distinct[chosen[spans:]], count > 0


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
