"""Of rows that are only compared for inequality with later values, as many as are needed."""

from collections.abc import Sequence

import numpy as np

from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.columns import table_columns, value
from ontoweir.runtime.columnar.frame import Array, Frame, group_codes


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

    codes, _ = group_codes([column(n) for n in by], held + rows.rows)
    points = list(zip(*(column(n).tolist() for n in names), strict=True))
    room = tuple(a.partners for a in table.samples)
    fronts: dict[int, list[tuple[object, ...]]] = {}
    full: set[int] = set()
    needed = np.zeros(rows.rows, dtype=np.bool_)
    for place, (code, point) in enumerate(zip(codes.tolist(), points, strict=True)):
        if code in full:
            continue
        front = fronts.setdefault(code, [])
        if place < held or can_miss(front, room, point):
            front.append(point)
            if not can_miss(front, room, None):
                full.add(code)
            if place >= held:
                needed[place - held] = True
    return needed


def can_miss(
    front: Sequence[tuple[object, ...]],
    room: tuple[int, ...],
    point: tuple[object, ...] | None,
) -> bool:
    """Whether later values, so many for each place as there is room, can equal a value of every
    point of a front but none of `point` (None: whatever they are)."""
    if not front:
        return True
    first = front[0]
    for place, most in enumerate(room):
        if not most or (point is not None and first[place] == point[place]):
            continue
        rest = [other for other in front if other[place] != first[place]]
        less = (*room[:place], most - 1, *room[place + 1 :])
        if can_miss(rest, less, point):
            return True
    return False
