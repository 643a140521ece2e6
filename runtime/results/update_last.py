"""Aggregates of which only the last row of a group is asked for: nothing is found out for the
moments before."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.pool.rank_texts import rank_texts, show_ranks
from ontoweir.runtime.results.group_state import ADDED, GroupColumn, GroupState
from ontoweir.runtime.results.measures import Measure, MeasureKind
from ontoweir.runtime.results.update_groups import FAR, Deltas, Shown

_NEVER = np.iinfo(np.int64).max


def update_last(
    shown: Sequence[Shown], deltas: Sequence[Deltas], state: GroupState, known: int
) -> GroupState | None:
    """The groups after a chunk's new matches: those of update_groups.

    Args:
        shown: of every part, its aggregates.
        deltas: of every part.
        state: the groups before, with those that are new (add_groups).
        known: how many there were before. Where some are new, all arrays of `state` are of this
            state alone (add_groups), and become those of the state after.

    Returns:
        None: a part has several rows of a group, what medians count, or sums that may not fit.
    """
    olds: list[dict[Measure, GroupColumn]] = []
    for part in deltas:
        if not _is_single(part, state.count):
            return None
        olds.append({n: state.column(n, part.code, c.dtype) for n, c in part.columns.items()})
        if any(_is_far(n, c, olds[-1][n]) for n, c in part.columns.items()):
            return None
    over = state.count > known
    measures, since = dict(state.measures), state.changed if over else state.changed.copy()
    first = np.full(state.count - known, _NEVER, dtype=np.int64)
    for mine, part, before in zip(shown, deltas, olds, strict=True):
        after = {n: _add(n, c, before[n]) for n, c in part.columns.items()}
        for name, column in after.items():
            measures[name] = state.put(name, part.code, column, over=over)
        changed = np.zeros(len(part.code), dtype=np.bool_)
        rows, rows_before = ({}, {}) if mine.late else (mine.show(after), mine.show(before))
        for name_shown, made in rows.items():
            changed |= made.differs(rows_before[name_shown])
        places = part.code[changed]
        since[places] = np.maximum(since[places], part.at[changed])
        new = part.code >= known
        places = part.code[new] - known
        first[places] = np.minimum(first[places], part.at[new])
    since[known:] = np.maximum(since[known:], first)  # a group is new at its first match
    return replace(state, measures=measures, changed=since)


def fold_deltas(deltas: Sequence[Deltas], count: int) -> list[Deltas] | None:
    """New matches of parts with one row of a group, where it is not asked when they came (None:
    what medians count, or sums that may not fit). `count`: the number of groups."""
    folded = [_fold(part, count) for part in deltas]
    known = [part for part in folded if part is not None]
    return known if len(known) == len(folded) else None


def _fold(part: Deltas, count: int) -> Deltas | None:
    if _is_single(part, count):
        return part
    there = np.zeros(count, dtype=np.bool_)
    there[part.code] = True
    code = np.flatnonzero(there)
    columns: dict[Measure, Array] = {}
    for name, column in part.columns.items():
        if name[0] == MeasureKind.HISTOGRAM:
            return None
        if name[0] in ADDED:
            if float(np.sum(np.abs(column.astype(np.float64)))) > FAR:
                return None
            made = np.zeros(count, dtype=column.dtype)
            np.add.at(made, part.code, column)
        else:
            low = name[0] == MeasureKind.MIN
            (column,), texts = rank_texts([column])
            if column.dtype == np.float64:
                worst = np.inf if low else -np.inf
            else:
                worst = np.iinfo(column.dtype).max if low else np.iinfo(column.dtype).min
            made = np.full(count, worst, dtype=column.dtype)
            (np.minimum if low else np.maximum).at(made, part.code, column)
            made = show_ranks(made, texts)
        columns[name] = made[code]
    return Deltas(code, np.zeros_like(code), columns)


def _is_single(part: Deltas, count: int) -> bool:
    """Whether a part has at most one row of every group, and no values that a median counts."""
    if any(name[0] == MeasureKind.HISTOGRAM for name in part.columns):
        return False
    there = np.zeros(count, dtype=np.bool_)
    there[part.code] = True
    return int(np.count_nonzero(there)) == len(part.code)


def _is_far(name: Measure, column: Array, before: GroupColumn) -> bool:
    """Whether a sum may not fit 64 bits."""
    if name[0] not in ADDED or not len(column):
        return False
    most = (float(np.max(np.abs(c.astype(np.float64)))) for c in (column, before.values))
    return sum(most) > FAR


def _add(name: Measure, column: Array, before: GroupColumn) -> GroupColumn:
    """A measure of groups after new matches."""
    valid = np.ones(len(column), dtype=np.bool_)
    if name[0] in ADDED:
        return GroupColumn(before.values + column, valid)
    best = np.minimum if name[0] == MeasureKind.MIN else np.maximum
    (old, new), texts = rank_texts([before.values, column])
    return GroupColumn(show_ranks(np.where(before.valid, best(old, new), new), texts), valid)
