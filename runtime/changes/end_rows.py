"""Rows that hold until later ones of their key end them, as changes."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.runtime.columnar.frame import LONG_AGO, Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY
from ontoweir.runtime.spans.spans import NEVER, Spans

_BEGUN = 2
"""As `Standing.ender`: the row is held to say that there was one."""


def end_rows(
    standing: Standing, held: "pa.Table | None", answers: pa.Table, now: int
) -> "tuple[Spans, int | None, pa.Table | None]":
    """Which rows hold, up to a time; since when there is a group of all of them, if they are one
    group (µs; None: it is not asked, or nothing came yet); and what is held for later.

    Rows that hold are held as of long ago, and equal ones together: whatever ends one of them from
    now on ends all.

    Args:
        standing: which rows end others.
        held: what was held; rows later than `now` then are still to be told.
        answers: new rows, those that end others among them; all up to `now`, and perhaps later.
        now: µs since 1970.
    """
    assert standing.ender is not None
    whole = answers if held is None else pa.concat_tables([held, answers])
    times = _times(whole)
    kind = whole.column(standing.ender).to_numpy()
    due = times <= now
    rows, enders = np.flatnonzero(due & (kind == 0)), np.flatnonzero(due & (kind == 1))
    codes, _ = code_rows(whole, standing.key)
    until = _find_ends(codes, times, rows, enders, inclusive=standing.inclusive)
    if standing.ever:
        earliest = np.full(len(codes), NEVER, dtype=np.int64)
        np.minimum.at(earliest, codes[enders], times[enders])
        until = np.where(earliest[codes[rows]] < times[rows], times[rows], until)
    seen = until > times[rows]
    weights = whole.column(MULTIPLICITY).to_numpy()
    mine = rows[seen]
    spans = Spans(whole.take(pa.array(mine)), times[mine], until[seen], weights[mine])
    left = _merge(whole, rows[until == NEVER])
    if standing.ever:  # of each key one of them, which ends what is to come
        left = pa.concat_tables([left, _keep_enders(whole, codes, enders)])
    waiting = whole.filter(pa.array(~due))
    begun = None
    if standing.groups is not None and not standing.groups.group and due.any():
        first = int(np.argmin(np.where(due, times, NEVER)))
        begun = LONG_AGO if (kind == _BEGUN).any() else int(times[first])
        left = pa.concat_tables([left, _mark(whole.slice(first, 1), standing.ender)])
    if waiting.num_rows:
        left = pa.concat_tables([left, waiting])
    return spans, begun, left if left.num_rows else None


def _keep_enders(whole: pa.Table, codes: Array, enders: Array) -> pa.Table:
    """A row that ends others of each key of which there has been one, as of long ago."""
    _, first = np.unique(codes[enders], return_index=True)
    made = whole.take(pa.array(enders[first]))
    for name, value in ((AT, LONG_AGO), (MULTIPLICITY, 1)):
        place, field = made.column_names.index(name), made.schema.field(name)
        column = pa.array(np.full(made.num_rows, value, dtype=np.int64))
        made = made.set_column(place, field, column.cast(field.type))
    return made


def _mark(row: pa.Table, ender: str) -> pa.Table:
    """A row that says that there was one."""
    for name, value in ((AT, LONG_AGO), (ender, _BEGUN), (MULTIPLICITY, 1)):
        place, field = row.column_names.index(name), row.schema.field(name)
        row = row.set_column(place, field, pa.array([value], pa.int64()).cast(field.type))
    return row


def tell_changes(
    standing: Standing, shown: Sequence[str], spans: Spans
) -> tuple[pa.Table, Array, Array]:
    """What begins and ends of some rows: of the columns that are shown, each distinct together with
    a time (µs), which is beside it, and how often more, or (below 0) less, it holds from then on.
    """
    came, gone = np.flatnonzero(spans.begins > LONG_AGO), np.flatnonzero(spans.ends < NEVER)
    index = np.concatenate([came, gone])
    at = np.concatenate([spans.begins[came], spans.ends[gone]])
    deltas = np.concatenate([spans.weights[came], -spans.weights[gone]])
    table, at, deltas = _add_up(spans.rows.select(shown), index, at, deltas)
    if standing.distinct:
        told = spans.take(np.flatnonzero(spans.begins == LONG_AGO))
        deltas = _as_set(told, (table, at, deltas))
    changed = deltas != 0
    return table.filter(pa.array(changed)), at[changed], deltas[changed]


def count_held(held: pa.Table) -> int:
    """How many rows end_rows holds that were told: of others there may be more to come that are
    held with them."""
    return int(np.count_nonzero(_times(held) == LONG_AGO))


def count_standing(standing: Standing, shown: Sequence[str], held: pa.Table) -> pa.Table:
    """The answers that hold, of what end_rows holds, with how often."""
    assert standing.ender is not None
    answers = held.column(standing.ender).to_numpy() == 0
    rows = np.flatnonzero((_times(held) == LONG_AGO) & answers)
    weights = held.column(MULTIPLICITY).to_numpy()[rows]
    table, _, often = _add_up(held.select(shown), rows, np.zeros_like(rows), weights)
    if standing.distinct:
        often = np.minimum(often, 1)
    return table.append_column(MULTIPLICITY, pa.array(often))


def _times(table: pa.Table) -> Array:
    times: Array = table.column(AT).cast(pa.int64()).to_numpy()
    return times


def _find_ends(codes: Array, times: Array, rows: Array, enders: Array, *, inclusive: bool) -> Array:
    """For each row, the time of the first one of its key that ends it."""
    until = np.full(len(rows), NEVER, dtype=np.int64)
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


def _as_set(told: Spans, events: tuple[pa.Table, Array, Array]) -> Array:
    """Of changes in how often rows hold, those in whether they do; `told`: what held before."""
    table, at, deltas = events
    size, held = len(told.weights), told.rows.select(table.column_names)
    codes, count = code_rows(pa.concat_tables([held, table]), table.column_names)
    base = np.zeros(count, dtype=np.int64)
    np.add.at(base, codes[:size], told.weights)
    mine = codes[size:]
    order = np.lexsort((at, mine))
    sums = np.cumsum(deltas[order])
    first = np.flatnonzero(np.append(True, np.diff(mine[order]) != 0)) if len(order) else order
    before = np.append(0, sums)[first]
    after = sums - np.repeat(before, np.diff(np.append(first, len(order)))) + base[mine[order]]
    changed = np.empty(len(order), dtype=np.int64)
    changed[order] = (after > 0).astype(np.int64) - (after > deltas[order]).astype(np.int64)
    return changed


def _merge(whole: pa.Table, rows: Array) -> pa.Table:
    """The rows that hold, as of long ago, equal ones together."""
    table = whole.take(pa.array(rows))
    weights = table.column(MULTIPLICITY).to_numpy()
    names = [n for n in table.column_names if n not in (AT, MULTIPLICITY)]
    codes, count = code_rows(table, names)
    total = np.zeros(count, dtype=np.int64)
    np.add.at(total, codes, weights)
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    made = table.take(pa.array(first))
    ago = pa.array(np.full(count, LONG_AGO, dtype=np.int64)).cast(INSTANT)
    made = made.set_column(made.column_names.index(AT), AT, ago)
    place = made.column_names.index(MULTIPLICITY)
    return made.set_column(place, made.schema.field(place), pa.array(total)).combine_chunks()
