"""The best rows of each key that later values must also differ from, as of every marker."""

from collections.abc import Sequence
from math import prod

import numpy as np

from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.columns import frontier, table_columns, value
from ontoweir.runtime.columnar.frame import (
    EVENT,
    UNTIL,
    WEIGHT,
    Array,
    Frame,
    group_codes,
    starts_of_runs,
)
from ontoweir.runtime.columnar.runs import number_runs
from ontoweir.runtime.kernel.pareto_front import FOREVER, pareto_front, share_slots
from ontoweir.runtime.kernel.thin_rows import can_miss

_CELLS = 1 << 20
"""Members of fronts that are merged at once."""


def keep_apart(frame: Frame, table: SynopsisTable) -> tuple[Frame, Array]:
    """Keep, per key, the rows that are needed beside those with better frontier values.

    A row is needed where later values, as many for each class as `table.samples` says, could
    equal a value of every row of the same or an earlier marker that is at least as good, and none
    of its own. At any marker a key has at most the product of partners + 1 such rows.

    Args:
        frame: rows with EVENT, key columns and frontier value 0, less is better.
        table: with one frontier value, and samples of distinct values.

    Returns:
        The rows that were ever needed, with UNTIL, the marker at which others made them
        superfluous (look-ups at or before it still see them), and a slot number: rows of one key
        (without the sampled classes) and slot do not overlap in time.
    """
    names = [value(a.value) for a in table.samples]
    by = [n for n in table_columns(table) if n not in names]
    # of rows with the same values, those that are better than all before: others are never needed
    frame, _ = pareto_front(frame, table_columns(table), 1)
    codes, _ = group_codes([frame[n] for n in by], frame.rows)
    order = np.lexsort((frame[frontier(0)], frame[EVENT], codes))
    frame, codes = frame.take(order), codes[order]
    room = tuple(a.partners for a in table.samples)
    fronts = _scan_fronts(frame, codes, [frame[n] for n in names], room)
    rows = np.arange(frame.rows)
    # a row is in the fronts from its own on, up to the one before that which made it superfluous
    last = np.full(frame.rows, -1, dtype=np.int64)
    held = fronts >= 0
    np.maximum.at(last, fronts[held], np.broadcast_to(rows[:, None], fronts.shape)[held])
    entered = np.flatnonzero(last >= 0)
    after = last[entered] + 1
    ends = np.append(starts_of_runs(codes)[1:], True)[last[entered]]
    until = np.where(ends, FOREVER, frame[EVENT][np.minimum(after, max(frame.rows - 1, 0))])
    found, codes = frame.take(entered), codes[entered]
    found = found.with_columns({UNTIL: until, WEIGHT: np.ones(found.rows, np.int64)})
    unexpired = found[UNTIL] > found[EVENT]
    found, codes = found.take(unexpired), codes[unexpired]
    return found, share_slots(codes, found[EVENT], found[UNTIL])


def _scan_fronts(
    frame: Frame, codes: Array, points: Sequence[Array], room: tuple[int, ...]
) -> Array:
    """The rows that are needed after each row of a key (-1: none): an array with a row for each.

    What is needed of two runs of rows is needed of what is needed of each. So fronts of runs of 1,
    2, 4 … rows are merged, for all rows at once.
    """
    count = prod(n + 1 for n in room)
    fronts = np.full((frame.rows, count), -1, dtype=np.int64)
    if not frame.rows:
        return fronts
    fronts[:, 0] = np.arange(frame.rows)
    rank = np.empty(frame.rows + 1, dtype=np.int64)
    rank[np.lexsort((fronts[:, 0], frame[frontier(0)]))] = fronts[:, 0]
    rank[-1] = frame.rows  # where there is none
    first = starts_of_runs(codes)
    places = np.arange(frame.rows) - np.flatnonzero(first)[number_runs(first)]
    step = max(_CELLS // count, 1)
    shift = 1
    while shift <= int(places.max()):
        rows = np.flatnonzero(places >= shift)
        merged = [
            _merge(fronts[part], fronts[part - shift], rank, points, room)
            for part in (rows[n : n + step] for n in range(0, len(rows), step))
        ]
        fronts[rows] = np.concatenate(merged)
        shift *= 2
    return fronts


def _merge(
    left: Array, right: Array, rank: Array, points: Sequence[Array], room: tuple[int, ...]
) -> Array:
    """The fronts of pairs of fronts: the best first, what is needed beside those before it."""
    both = np.concatenate([left, right], axis=1)
    both = np.take_along_axis(both, np.argsort(rank[both], axis=1), axis=1)
    members = [p[both] for p in points]
    kept = both >= 0
    for place in range(1, both.shape[1]):
        before = [m[:, :place] for m in members]
        kept[:, place] &= can_miss(kept[:, :place], before, [m[:, place] for m in members], room)
    first = np.argsort(~kept, axis=1, kind="stable")[:, : left.shape[1]]
    return np.where(
        np.take_along_axis(kept, first, axis=1), np.take_along_axis(both, first, axis=1), -1
    )
