"""Of rows that are only compared for inequality with later values, as many as are needed."""

from collections.abc import Sequence

import numpy as np

from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.columns import table_columns, value
from ontoweir.runtime.columnar.frame import Array, Frame, first_of, group_codes, starts_of_runs
from ontoweir.runtime.columnar.runs import number_runs, order_rows

_CELLS = 1 << 22
"""Members of fronts that are looked at at once."""


def thin_rows(table: SynopsisTable, kept: Frame | None, rows: Frame) -> Array:
    """Which rows of a table are needed beside those that are kept: an array of truth values.

    A row is needed where later values, as many for each class as `table.samples` says, could
    equal a value of every row that is kept (with the rest of its key), and none of its own.
    Otherwise whatever it matches, one that is kept matches too. Rows that are needed are never
    more than the product of partners + 1 (checker/citations.md, 18).

    Args:
        table: with `samples`.
        kept: rows that were needed before.
        rows: more rows, distinct; earlier ones come first.
    """
    held = 0 if kept is None else kept.rows
    names = [value(a.value) for a in table.samples]
    by = [n for n in table_columns(table) if n not in names]

    def column(name: tuple[object, ...]) -> Array:
        parts = [rows[name]] if kept is None else [kept[name], rows[name]]
        return np.concatenate(parts)

    codes, count = group_codes([column(n) for n in by], held + rows.rows)
    points = [column(n) for n in names]
    room = tuple(a.partners for a in table.samples)
    return _choose(codes, count, points, room, held)[held:]


def _choose(
    codes: Array, count: int, points: Sequence[Array], room: tuple[int, ...], held: int
) -> Array:
    """The rows that are needed, where the first `held` ones are kept already. In every round each
    key takes its first row that is needed beside those it has: what one round does not need, none
    after it does. So there are no more rounds than a key has rows in the end."""
    needed = np.zeros(len(codes), dtype=np.bool_)
    fronts = _first_fronts(codes[:held], count)
    size = np.bincount(codes[:held], minlength=count)
    left = np.arange(held, len(codes))
    while True:
        step = max(_CELLS // max(len(fronts), 1), 1)
        blocks = [left[n : n + step] for n in range(0, len(left), step)]
        left = np.concatenate(
            [left[:0], *(b[_needs(b, codes, points, room, fronts)] for b in blocks)]
        )
        if len(left) == 0:
            return needed
        first = first_of(codes[left], count)
        keys = np.flatnonzero(first < len(left))
        taken = first[keys]
        needed[left[taken]] = True
        for _ in range(int(size[keys].max()) + 1 - len(fronts)):
            fronts.append(np.full(count, -1, dtype=np.int64))
        for place in range(len(fronts)):
            mine = size[keys] == place
            fronts[place][keys[mine]] = left[taken[mine]]
        size[keys] += 1
        left = np.delete(left, taken)


def _first_fronts(codes: Array, count: int) -> list[Array]:
    """The rows of every key: an array of the first ones, one of the second, … (-1: none)."""
    order = order_rows(codes, max(count, 1))
    first = starts_of_runs(codes[order])
    places = np.arange(len(order)) - np.flatnonzero(first)[number_runs(first)]
    fronts = []
    for place in range(int(places.max(initial=-1)) + 1):
        front = np.full(count, -1, dtype=np.int64)
        rows = order[places == place]
        front[codes[rows]] = rows
        fronts.append(front)
    return fronts


def _needs(
    rows: Array,
    codes: Array,
    points: Sequence[Array],
    room: tuple[int, ...],
    fronts: Sequence[Array],
) -> Array:
    """Which rows are needed beside the front of their key."""
    if not fronts:
        return np.ones(len(rows), dtype=np.bool_)
    members = np.stack([front[codes[rows]] for front in fronts], axis=1)
    there = members >= 0
    return can_miss(there, [p[members] for p in points], [p[rows] for p in points], room)


def can_miss(
    there: Array, members: Sequence[Array], points: Sequence[Array], room: tuple[int, ...]
) -> Array:
    """Whether later values, so many for each place as there is room, can equal a value of every
    member of a front but none of a point; of many fronts, each with a point.

    Args:
        there: of every front (a row), which members it has.
        members: by place, their values, as `there`.
        points: by place, the points' values.
        room: by place, how many later values there are.
    """
    if not there.shape[1]:
        return np.ones(len(there), dtype=np.bool_)
    result: Array = np.logical_not(there.any(axis=1))
    first = there.argmax(axis=1)
    for place, most in enumerate(room):
        if not most:
            continue
        met = members[place][np.arange(len(first)), first]
        rows = np.flatnonzero(~result & (met != points[place]))
        rest = there[rows] & (members[place][rows] != met[rows, None])
        less = (*room[:place], most - 1, *room[place + 1 :])
        result[rows] = can_miss(rest, [m[rows] for m in members], [p[rows] for p in points], less)
    return result
