"""Rows that hold until later ones of their key end them, as changes."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.standing import Standing
from ontoweir.runtime.columnar.frame import LONG_AGO, Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY

_NEVER = np.iinfo(np.int64).max


def end_rows(
    standing: Standing, shown: Sequence[str], held: "pa.Table | None", answers: pa.Table, now: int
) -> tuple[pa.Table, Array, Array, "pa.Table | None"]:
    """What begins and ends up to a time, and what is held for later.

    Rows that hold are held as of long ago, and equal ones together: whatever ends one of them from
    now on ends all.

    Args:
        standing: which rows end others.
        shown: the columns of an answer.
        held: what was held; rows later than `now` then are still to be told.
        answers: new rows, those that end others among them; all up to `now`, and perhaps later.
        now: µs since 1970.

    Returns:
        rows with the columns of an answer, distinct together with a time (µs), which is beside
        them, and how often more, or (below 0) less, each holds from then on; and what is held.
    """
    assert standing.ender is not None
    whole = answers if held is None else pa.concat_tables([held, answers])
    times = _times(whole)
    ends = whole.column(standing.ender).to_numpy() == 1
    due = times <= now
    rows, enders = np.flatnonzero(due & ~ends), np.flatnonzero(due & ends)
    codes, _ = code_rows(whole, standing.key)
    until = _find_ends(codes, times, rows, enders, inclusive=standing.inclusive)
    told = times[rows] == LONG_AGO
    seen = told | (until > times[rows])
    gone = rows[seen & (until < _NEVER)]
    came = rows[seen & ~told]
    weights = whole.column(MULTIPLICITY).to_numpy()
    index = np.concatenate([came, gone])
    at = np.concatenate([times[came], until[seen & (until < _NEVER)]])
    deltas = np.concatenate([weights[came], -weights[gone]])
    table, at, deltas = _add_up(whole.select(shown), index, at, deltas)
    if standing.distinct:
        deltas = _as_set(whole.select(shown), rows[told], weights, (table, at, deltas))
    changed = deltas != 0
    after = _merge(whole, rows[until == _NEVER], [*shown, *standing.hidden])
    waiting = whole.filter(pa.array(~due))
    left = pa.concat_tables([after, waiting]) if waiting.num_rows else after
    kept = left if left.num_rows else None
    return table.filter(pa.array(changed)), at[changed], deltas[changed], kept


def count_standing(standing: Standing, shown: Sequence[str], held: pa.Table) -> pa.Table:
    """The answers that hold, of what end_rows holds, with how often."""
    rows = np.flatnonzero(_times(held) == LONG_AGO)
    weights = held.column(MULTIPLICITY).to_numpy()[rows]
    table, _, often = _add_up(held.select(shown), rows, np.zeros_like(rows), weights)
    if standing.distinct:
        often = np.minimum(often, 1)
    return table.append_column(MULTIPLICITY, pa.array(often))


def _times(table: pa.Table) -> Array:
    times: Array = table.column(AT).cast(pa.int64()).to_numpy()
    return times


def _find_ends(
    codes: Array, times: Array, rows: Array, enders: Array, *, inclusive: bool
) -> Array:
    """For each row, the time of the first one of its key that ends it."""
    until = np.full(len(rows), _NEVER, dtype=np.int64)
    if not len(enders) or not len(rows):
        return until
    moments = np.unique(times[enders])
    # the place of the first moment that ends a row; a key's moments are one after the other
    places = np.searchsorted(moments, times[rows], side="left" if inclusive else "right")
    size = len(moments) + 1
    keyed = np.unique(codes[enders] * size + np.searchsorted(moments, times[enders]))
    first = np.searchsorted(keyed, codes[rows] * size + places)
    there = first < len(keyed)
    found = keyed[first[there]]
    same = found // size == codes[rows][there]
    until[np.flatnonzero(there)[same]] = moments[found[same] % size]
    return until


def _add_up(
    shown: pa.Table, index: Array, at: Array, deltas: Array
) -> tuple[pa.Table, Array, Array]:
    """Equal rows of one time as one, their numbers added up."""
    table = shown.take(pa.array(index))
    codes, count = code_rows(table.append_column(AT, pa.array(at)), [*shown.column_names, AT])
    total = np.zeros(count, dtype=np.int64)
    np.add.at(total, codes, deltas)
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return table.take(pa.array(first)), at[first], total


def _as_set(
    shown: pa.Table, told: Array, weights: Array, events: tuple[pa.Table, Array, Array]
) -> Array:
    """Of changes in how often rows hold, those in whether they do."""
    table, at, deltas = events
    held = shown.take(pa.array(told))
    codes, count = code_rows(pa.concat_tables([held, table]), shown.column_names)
    base = np.zeros(count, dtype=np.int64)
    np.add.at(base, codes[: len(told)], weights[told])
    mine = codes[len(told) :]
    order = np.lexsort((at, mine))
    sums = np.cumsum(deltas[order])
    first = np.flatnonzero(np.append(True, np.diff(mine[order]) != 0)) if len(order) else order
    before = np.append(0, sums)[first]
    after = sums - np.repeat(before, np.diff(np.append(first, len(order)))) + base[mine[order]]
    changed = np.empty(len(order), dtype=np.int64)
    changed[order] = (after > 0).astype(np.int64) - (after > deltas[order]).astype(np.int64)
    return changed


def _merge(whole: pa.Table, rows: Array, names: Sequence[str]) -> pa.Table:
    """The rows that hold, as of long ago, equal ones together."""
    table = whole.take(pa.array(rows))
    weights = table.column(MULTIPLICITY).to_numpy()
    codes, count = code_rows(table, list(dict.fromkeys(names)))
    total = np.zeros(count, dtype=np.int64)
    np.add.at(total, codes, weights)
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    made = table.take(pa.array(first))
    ago = pa.array(np.full(count, LONG_AGO, dtype=np.int64)).cast(INSTANT)
    made = made.set_column(made.column_names.index(AT), AT, ago)
    place = made.column_names.index(MULTIPLICITY)
    return made.set_column(place, made.schema.field(place), pa.array(total)).combine_chunks()
