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

FOREVER = int(np.iinfo(np.int64).max)


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


def least_rows(frame: Frame, by: Sequence[Name]) -> Frame:
    """Of every key the row with the least frontier value 0, of several the earliest one: what
    pareto_front keeps for ever where there is one frontier value."""
    codes, count = group_codes([frame[n] for n in by], frame.rows)
    if not count:
        return frame
    values, events = frame[frontier(0)], frame[EVENT]
    least = values[first_of(codes, count)]
    np.minimum.at(least, codes, values)
    hit = np.flatnonzero(values == least[codes])
    earliest = np.full(count, FOREVER, dtype=np.int64)
    np.minimum.at(earliest, codes[hit], events[hit])
    hit = hit[events[hit] == earliest[codes[hit]]]
    kept = frame.take(hit[first_of(codes[hit], count)])
    return kept.with_columns({WEIGHT: np.ones(count, np.int64)})


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
    """Several frontier values: fronts, row by row (they are small, and rows that enter few)."""
    points = np.stack([frame[frontier(i)] for i in range(count)], axis=1).tolist()
    events, groups = frame[EVENT].tolist(), codes.tolist()
    until = [FOREVER] * frame.rows
    chosen: list[int] = []
    slots: list[int] = []
    front: dict[int, int] = {}
    current = -1
    for row, (point, event, group) in enumerate(zip(points, events, groups, strict=True)):
        if group != current:
            front, current = {}, group
        if any(all(a <= b for a, b in zip(points[r], point, strict=True)) for r in front.values()):
            continue
        for slot, r in list(front.items()):
            if all(a <= b for a, b in zip(point, points[r], strict=True)):
                until[r] = event
                del front[slot]
        slot = 0
        while slot in front:
            slot += 1
        front[slot] = row
        chosen.append(row)
        slots.append(slot)
    index = np.array(chosen, dtype=np.int64)
    kept = frame.take(index).with_columns(
        {
            UNTIL: np.array([until[r] for r in chosen], dtype=np.int64),
            WEIGHT: np.ones(len(chosen), np.int64),
        }
    )
    real = kept[UNTIL] > kept[EVENT]
    return kept.take(real), np.array(slots, dtype=np.int64)[real]
