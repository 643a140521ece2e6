"""Which rows of windows may still be among the first of their key."""

import numpy as np

from ontoweir.rewriter.model.aggregation import FirstRows, Numbering
from ontoweir.runtime.columnar.frame import Array

MOST = 16
"""Up to so many first rows, all keys are looked at together."""


def may_come(
    first: FirstRows,
    keys: Array,
    orders: Array,
    ends: Array,
    weights: Array,
    *,
    there: "Array | None" = None,
) -> Array:
    """Whether each row that a window shows may be among the first: not so many rows before it in
    the order stay as long as it does.

    Args:
        first: which numbers.
        keys, orders, ends, weights: of each row a code of its key, its place in the order, when it
            ends (µs), and how often it is there.
        there: which of them are there as long as each of the others has begun (None: all).
    """
    size = len(keys)
    if not size:
        return np.zeros(0, dtype=np.bool_)
    there = np.ones(size, dtype=np.bool_) if there is None else there
    sorted_ = np.lexsort((-ends, ~there, orders, keys))
    key, order = keys[sorted_], orders[sorted_]
    level = np.append(True, (key[1:] != key[:-1]) | (order[1:] != order[:-1]))
    number = np.cumsum(level) - 1
    if first.numbering is Numbering.DENSE:
        often = (level & there[sorted_]).astype(np.int64)  # of each place the row that ends last
    else:
        often = np.minimum(weights[sorted_], first.limit) * there[sorted_]
    rows = np.repeat(np.arange(size), often)
    known, place = np.unique(ends[sorted_], return_inverse=True)
    base = np.cumsum(np.append(True, key[1:] != key[:-1])) * (len(known) + 1)
    least = base[rows]  # nothing, of a key; greater than all of the keys before
    values = least + place[rows] + 1
    last = values
    for _ in range(first.limit):
        greatest = np.maximum.accumulate(values)
        before = np.maximum(np.append(0, greatest[:-1]), least)
        values, last = np.minimum(before, values), greatest
    # of each place the end that so many rows up to it reach; what counts are the places before
    reached = np.zeros(int(number[-1]) + 1, dtype=np.int64)
    reached[number[rows]] = last
    ahead = np.append(0, np.maximum.accumulate(reached)[:-1])[number]
    made = np.empty(size, dtype=np.bool_)
    made[sorted_] = ahead < base + place + 1
    return made
