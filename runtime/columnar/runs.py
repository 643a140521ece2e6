"""Rows in runs of equal keys: their order, and what a run has come to after each of its rows.

A mask `first` says where runs start.
"""

import numpy as np

from ontoweir.runtime.columnar.frame import Array, starts_of_runs

_WIDE = 1 << 62
_PAIRS = 1 << 20
"""Pairs of rows handled at once: keeps memory flat."""


def order_rows(keys: Array, size: int) -> Array:
    """The order of rows by their keys, rows of one key as they are.

    Args:
        keys: int64, at least 0 and less than `size`.

    >>> order_rows(np.array([1, 0, 1, 0]), 2)
    array([1, 3, 0, 2])
    """
    rows = len(keys)
    if (keys[1:] >= keys[:-1]).all():
        return np.arange(rows)
    bits = rows.bit_length()
    if size << bits > _WIDE:
        return np.argsort(keys, kind="stable")
    packed = np.arange(rows)
    packed |= keys.astype(np.int64, copy=False) << bits
    packed.sort()  # several times as fast as argsort
    packed &= (1 << bits) - 1
    return packed


def number_runs(first: Array) -> Array:
    """The number of each row's run: 0, 1, …"""
    return np.cumsum(first) - 1


def running_sums(values: Array, first: Array) -> Array:
    """The sum of a run up to each of its rows, of whole numbers; what does not fit 64 bits wraps,
    and is right again where the sum fits.

    >>> running_sums(np.array([1, 2, 3, 4]), np.array([True, False, True, False]))
    array([1, 3, 3, 7])
    """
    total = np.cumsum(values)
    starts = np.flatnonzero(first)
    before = total[starts] - values[starts]
    sums: Array = total - before[number_runs(first)]
    return sums


def running_least(values: Array, first: Array) -> Array:
    """The least value of a run up to each of its rows.

    >>> running_least(np.array([3, 1, 2, 7]), np.array([True, False, False, True]))
    array([3, 1, 1, 7])
    """
    if len(values) == 0:
        return values
    later = int(np.count_nonzero(first)) - 1 - number_runs(first)
    if values.dtype == np.int64:
        low, span = int(values.min()), int(values.max()) - int(values.min()) + 1
        if span * (int(later[0]) + 1) <= _WIDE:
            return _least(values - low, later * span) + low
    order = np.argsort(values)
    ordered = values[order]
    fresh = starts_of_runs(ordered)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = number_runs(fresh)
    least: Array = ordered[fresh][_least(ranks, later * int(np.count_nonzero(fresh)))]
    return least


def _least(offsets: Array, lifted: Array) -> Array:
    """As running_least; `lifted`: more than all offsets for every run that comes later, so that
    what is least in an earlier run never reaches into a later one."""
    least: Array = np.minimum.accumulate(offsets + lifted) - lifted
    return least


def running_greatest(values: Array, first: Array) -> Array:
    """The greatest value of a run up to each of its rows."""
    if values.dtype == np.int64:
        return ~running_least(~values, first)
    return -running_least(-values, first)


def blocks(length: Array) -> list[slice]:
    """Slices of rows whose partners together are not too many to handle at once."""
    if len(length) == 0:
        return []
    total = np.cumsum(length)
    if int(total[-1]) <= _PAIRS:
        return [slice(0, len(length))]
    cuts, start = [], 0
    while start < len(length):
        done = int(total[start - 1]) if start else 0
        stop = int(np.searchsorted(total, done + _PAIRS, side="right"))
        stop = max(stop, start + 1)
        cuts.append(slice(start, stop))
        start = stop
    return cuts
