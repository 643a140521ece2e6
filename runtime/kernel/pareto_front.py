"""Pareto-minimal frontier values per key, as of every marker."""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.columns import frontier
from ontoweir.runtime.columnar.frame import (
    EVENT,
    UNTIL,
    WEIGHT,
    Array,
    Frame,
    Name,
    first_of,
    group_codes,
    pack,
    starts_of_runs,
)
from ontoweir.runtime.columnar.runs import number_runs, order_rows, running_least
from ontoweir.runtime.kernel.find_dominators import are_dominated, first_dominators

FOREVER = int(np.iinfo(np.int64).max)
_BLOCK = 16_384
"""Rows that are numbered at a time."""


def pareto_front(frame: Frame, by: Sequence[Name], count: int) -> tuple[Frame, Array]:
    """Keep, per key, the rows that no row of the same or an earlier marker is at least as good as.

    Args:
        frame: rows with EVENT, key columns and frontier values 0..count-1, less is better.
        by: the key columns.
        count: how many frontier values there are.

    Returns:
        The rows that were ever best, with UNTIL, the last marker *before* which (strictly
        earlier markers' view) they still are, that is the marker at which a better row came
        (look-ups at or before that marker still see them), and a slot number: rows of one key
        and slot do not overlap in time.
    """
    codes, _ = group_codes([frame[n] for n in by], frame.rows)
    if count == 1:
        return _keep_least(frame, codes)
    order_by = [frame[frontier(i)] for i in reversed(range(count))]
    order = np.lexsort((*order_by, frame[EVENT], codes))
    return _keep_fronts(frame.take(order), codes[order], count)


def least_rows(frame: Frame, by: Sequence[Name], *, timed: bool = True) -> Frame:
    """Of every key the row with the least frontier value 0, of several the earliest one: what
    pareto_front keeps for ever where there is one frontier value. Not `timed`: its marker may be
    that of another row of the key."""
    codes, count = group_codes([frame[n] for n in by], frame.rows)
    if not count:
        return frame
    values, events = frame[frontier(0)], frame[EVENT]
    told = {*by, frontier(0), EVENT, WEIGHT}
    if not timed and values.dtype == np.int64 and told.issuperset(frame.columns):
        least = np.full(count, FOREVER, dtype=np.int64)
        np.minimum.at(least, codes, values)
        kept = frame.take(first_of(codes, count))
        return kept.with_columns({frontier(0): least, WEIGHT: np.ones(count, np.int64)})
    firsts = _first_least(values, events, codes, count)
    if firsts is not None:
        return frame.take(firsts).with_columns({WEIGHT: np.ones(count, np.int64)})
    greatest = FOREVER if values.dtype == np.int64 else np.inf
    least = np.full(count, greatest, dtype=values.dtype)
    np.minimum.at(least, codes, values)
    hit = np.flatnonzero(values == least[codes])
    if bool((events[hit[1:]] < events[hit[:-1]]).any()):
        earliest = np.full(count, FOREVER, dtype=np.int64)
        np.minimum.at(earliest, codes[hit], events[hit])
        hit = hit[events[hit] == earliest[codes[hit]]]
    kept = frame.take(hit[first_of(codes[hit], count)])
    return kept.with_columns({WEIGHT: np.ones(count, np.int64)})


def _first_least(values: Array, events: Array, codes: Array, count: int) -> Array | None:
    """Of every code the first row with the least value, by one look at whole numbers that say the
    row, too (None: they do not, or rows are in another order than that of events)."""
    rows = len(values)
    if values.dtype != np.int64 or bool((events[1:] < events[:-1]).any()):
        return None
    low = int(values.min())
    if (int(values.max()) - low + 1) * rows > FOREVER:
        return None
    least = np.full(count, FOREVER, dtype=np.int64)
    places, numbers = np.arange(min(rows, _BLOCK)), np.empty(min(rows, _BLOCK), np.int64)
    for start in range(0, rows, _BLOCK):  # so few at a time stay in the processor's cache
        block = values[start : start + _BLOCK]
        made = np.subtract(block, low, out=numbers[: len(block)])
        made *= rows
        made += places[: len(block)]
        np.minimum.at(least, codes[start : start + _BLOCK], made)
        places += _BLOCK
    return least % rows


def _keep_least(frame: Frame, codes: Array) -> tuple[Frame, Array]:
    """One frontier value: the running minimum per key."""
    events, _ = group_codes([frame[EVENT]], frame.rows)
    keys, size = pack([codes, events], frame.rows)
    order = order_rows(keys, size)
    fresh = starts_of_runs(keys[order])
    values, moment = frame[frontier(0)][order], number_runs(fresh)
    starts = np.flatnonzero(fresh)
    if frame.rows:
        least = np.minimum.reduceat(values, starts)
        hit = np.flatnonzero(values == least[moment])
        # of every (key, marker), the first row that has the least value
        places = order[hit[starts_of_runs(moment[hit])]]
    else:
        least, places = values, order
    group = codes[places]
    first = starts_of_runs(group)
    running = running_least(least, first)
    better = first.copy()
    better[1:] |= running[1:] < running[:-1]
    kept, group = frame.take(places[better]), group[better]
    until = np.full(kept.rows, FOREVER, dtype=np.int64)
    same = group[1:] == group[:-1]
    until[:-1][same] = kept[EVENT][1:][same]
    ones, slots = np.ones(kept.rows, np.int64), np.zeros(kept.rows, np.int64)
    return kept.with_columns({UNTIL: until, WEIGHT: ones}), slots


def _keep_fronts(frame: Frame, codes: Array, count: int) -> tuple[Frame, Array]:
    """Several frontier values, of rows in order of key, marker and values: those that no earlier
    row of the key is at least as good as, until the first later one that is better."""
    values = [group_codes([frame[frontier(i)]], frame.rows)[0] for i in range(count)]
    for hide in (_led, _dominated):
        kept = np.flatnonzero(~hide(codes, values))
        frame, codes = frame.take(kept), codes[kept]
        values = [v[kept] for v in values]
    later = first_dominators(codes, _places(codes), values)
    until = np.where(later < 0, FOREVER, frame[EVENT][later]) if frame.rows else later
    real = until > frame[EVENT]
    kept_rows = frame.with_columns({UNTIL: until, WEIGHT: np.ones(frame.rows, np.int64)}).take(real)
    return kept_rows, share_slots(codes[real], kept_rows[EVENT], kept_rows[UNTIL])


def _dominated(codes: Array, values: Sequence[Array]) -> Array:
    return are_dominated(codes, _places(codes), values)


def _places(codes: Array) -> Array:
    """The place of each row among those of its key, which are together."""
    first = starts_of_runs(codes)
    return np.arange(len(codes)) - np.flatnonzero(first)[number_runs(first)]


def _led(codes: Array, values: Sequence[Array]) -> Array:
    """Rows that one of a few good earlier ones is at least as good as: most of those that any is.
    Looked at are the first with the least of each value, and of all together."""
    rows = len(codes)
    led = np.zeros(rows, dtype=np.bool_)
    if rows == 0:
        return led
    first = starts_of_runs(codes)
    for rated in (*values, np.sum(values, axis=0)):
        best = running_least(rated * rows + np.arange(rows), first) % rows
        before = np.roll(best, 1)  # of the row before; the first of a key has none
        led |= ~first & np.logical_and.reduce([v[before] <= v for v in values])
    return led


def share_slots(codes: Array, begin: Array, end: Array) -> Array:
    """Slots for rows that are there after `begin` up to `end`: rows of one key and slot do not
    overlap in time, and a key has no more slots than rows at one time.

    The k-th row of a key, in order of their beginnings, takes the slot of the row that ended next,
    if there is one that no earlier row has taken: they take min(R + 1, E), where R is what those
    before took, and E how many have ended.

    Args:
        codes: int64, the keys; rows are sorted by them, then by `begin`.
        begin, end: int64, where begin < end.
    """
    rows = len(codes)
    if rows == 0:
        return np.zeros(0, dtype=np.int64)
    times, span = group_codes([np.concatenate([begin, end])], 2 * rows)
    starts, stops = codes * span + times[:rows], codes * span + times[rows:]
    order = order_rows(*pack([stops], rows))
    first = starts_of_runs(codes)
    base = np.flatnonzero(first)[number_runs(first)]
    number = np.arange(rows) - base + 1
    ended = np.searchsorted(stops[order], starts, side="right") - base
    taken = number + np.minimum(running_least(ended - number, first), 0)
    before = np.where(first, 0, np.roll(taken, 1))
    takes = taken > before
    root = np.where(takes, order[np.where(takes, base + taken - 1, 0)], np.arange(rows))
    while True:
        further = root[root]
        if bool((further == root).all()):
            break
        root = further
    opened = np.cumsum(~takes)
    slots: Array = (opened - opened[base])[root]
    return slots
