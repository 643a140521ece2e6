"""Of rows that one tuple of another stream joins at most: when it has come ([B], many-one)."""

from collections.abc import Sequence

import numpy as np

from ontoweir.checker.model.normal_form import SoleMatch
from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.columns import stamp, value
from ontoweir.runtime.columnar.frame import EVENT, Array, Frame, Name, group_codes
from ontoweir.runtime.kept.asof_index import AsOfIndex
from ontoweir.runtime.kept.kept_rows import KeptRows
from ontoweir.runtime.kernel.pareto_front import FOREVER


def list_values(match: SoleMatch) -> list[Name]:
    """The columns that the two tuples are equal in."""
    return [value(index) for index in match.values]


def find_matched(table: SynopsisTable, rows: Frame, batches: Sequence[Frame]) -> Array:
    """The marker at which each row of a table has met the one tuple that could join it (FOREVER:
    it has not, in this chunk): from its own timestamp on, the first marker with such a tuple.

    Args:
        table: with rows that one tuple joins at most.
        rows: some of its rows, of which none had met it before the chunk.
        batches: per member, its tuples of the chunk.
    """
    found = np.full(rows.rows, FOREVER, dtype=np.int64)
    for match in table.matched:
        came = batches[match.child]
        if came.rows and rows.rows:
            at, there = _look_up(match, rows, came, came[EVENT], after=True)
            found = np.where(there, np.minimum(found, at), found)
    return found


def have_met(match: SoleMatch, rows: Frame, past: Frame, most: int | None) -> Array:
    """Which rows' one tuple came before them.

    Args:
        match: the two tuples.
        rows: new ones, at their own timestamps.
        past: tuples of the other stream, by the columns that both are equal in.
        most: so many steps before them at most (None: any number).
    """
    if not past.rows or not rows.rows:
        return np.zeros(rows.rows, dtype=np.bool_)
    name = stamp(match.child)
    times = past[name] if most is not None and name in past.columns else past[EVENT]
    at, there = _look_up(match, rows, past, times, after=False)
    if most is not None:
        there &= rows[stamp(match.parent)] - at <= most
    return there


def find_places(table: SynopsisTable, kept: KeptRows, batches: Sequence[Frame]) -> Array:
    """The places, in order, of kept rows whose one tuple is among those of a chunk."""
    places = [np.zeros(0, dtype=np.int64)]
    for match in table.matched:
        came = batches[match.child]
        if came.rows:
            near = kept.find(list_values(match), came)
            _, there = _look_up(match, kept.take(near), came, came[EVENT], after=True)
            places.append(near[there])
    return np.unique(np.concatenate(places))


def _look_up(
    match: SoleMatch, rows: Frame, others: Frame, times: Array, *, after: bool
) -> tuple[Array, Array]:
    """Of each row, the time of the first tuple with its values that does not come before it, or of
    the last one that does; and whether there is one."""
    names = list_values(match)
    codes, count = group_codes(
        [np.concatenate([rows[n], others[n]]) for n in names], rows.rows + others.rows
    )
    mine, other = codes[: rows.rows], codes[rows.rows :]
    index = AsOfIndex(other, count, times, rows.rows)
    if index.order is not None:
        other, times = other[index.order], times[index.order]
    place = index.rank(mine, rows[stamp(match.parent)])
    if not after:
        place = place - 1
    inside = (place >= 0) & (place < len(times))
    place = np.where(inside, place, 0)
    there = inside & (other[place] == mine) if len(times) else inside
    return times[place] if len(times) else place, there
