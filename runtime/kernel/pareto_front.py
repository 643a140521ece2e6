"""Pareto-minimal frontier values per key, as of every marker."""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.columns import frontier
from ontoweir.runtime.columnar.frame import EVENT, UNTIL, WEIGHT, Array, Frame, Name, group_codes

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
    order_by = [frame[frontier(i)] for i in reversed(range(count))]
    codes, _ = group_codes([frame[n] for n in by], frame.rows)
    order = np.lexsort((*order_by, frame[EVENT], codes))
    frame, codes = frame.take(order), codes[order]
    if count == 1:
        return _keep_least(frame, codes)
    return _keep_fronts(frame, codes, count)


def _keep_least(frame: Frame, codes: Array) -> tuple[Frame, Array]:
    """One frontier value: the running minimum per key."""
    values = frame[frontier(0)]
    if frame.rows == 0:
        return frame.with_columns({UNTIL: np.zeros(0, np.int64)}), np.zeros(0, np.int64)
    _, rank = np.unique(values, return_inverse=True)
    rank = rank.reshape(-1).astype(np.int64)
    span = int(rank.max()) + 1
    # groups in descending offset: a running minimum never reaches back into an earlier group
    offset = (int(codes.max()) - codes) * span
    running = np.minimum.accumulate(rank + offset)
    better = np.ones(frame.rows, dtype=np.bool_)
    better[1:] = running[1:] < running[:-1]
    kept, group = frame.take(better), codes[better]
    until = np.full(kept.rows, FOREVER, dtype=np.int64)
    same = group[1:] == group[:-1]
    until[:-1][same] = kept[EVENT][1:][same]
    alive = np.ones(kept.rows, dtype=np.bool_)
    alive[:-1] = ~(same & (kept[EVENT][1:] == kept[EVENT][:-1]))
    kept = kept.with_columns({UNTIL: until}).take(alive)
    return kept.with_columns({WEIGHT: np.ones(kept.rows, np.int64)}), np.zeros(kept.rows, np.int64)


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
