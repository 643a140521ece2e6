"""Drop a synopsis's expired rows and merge the rest, between chunks."""

from collections.abc import Sequence

import numpy as np

from ontoweir.checker.model.plan import KeptTimestamp, SynopsisTable
from ontoweir.runtime.columnar.columns import stamp, table_columns, value
from ontoweir.runtime.columnar.frame import (
    EVENT,
    LONG_AGO,
    UNTIL,
    Array,
    Frame,
    Name,
    concat,
    group_codes,
)
from ontoweir.runtime.distinct.aggregate import aggregate
from ontoweir.runtime.kept.kept_rows import KeptRows
from ontoweir.runtime.kernel.keep_apart import keep_apart
from ontoweir.runtime.kernel.pareto_front import FOREVER, least_rows, pareto_front
from ontoweir.runtime.kernel.thin_rows import thin_rows


def compact_table(table: SynopsisTable, rows: Frame, now: int, *, bag: bool) -> Frame:
    """Merge a table's rows, once marker `now` is finished, without what expired.

    Rows that were settled before may be among them: settling again changes nothing, and the
    order in which rows are added does not matter. Counts and sums add, presence and the best
    frontier values merge.
    """
    return _merge(table, _settle_rows(table, rows, now), bag=bag)


def compact_kept(
    table: SynopsisTable,
    kept: KeptRows,
    fresh: Frame,
    now: int,
    *,
    bag: bool,
    matched: Array,
) -> KeptRows:
    """As compact_table, of rows that were settled before and new ones: only those are looked at
    that new ones may merge with, and those that are due; `matched`: the places, in order, of those
    that go. Whoever shares what was kept with another, which has gone on from it in the same way,
    shares what came of it.
    """
    fresh = fresh.select(kept.names)
    how = None if table.matched else (list_rules(table), now, bag)
    shared = None if how is None else kept.went_on(how, fresh)
    if shared is not None:
        return shared

    def when(rows: Frame) -> Array:
        return _due_times(table, rows)

    due = kept.due(now, when) if table.kept else np.zeros(0, dtype=np.int64)
    due = np.setdiff1d(due, matched, assume_unique=True)
    incoming = _settle_rows(table, concat([kept.take(due), fresh]) if len(due) else fresh, now)
    gone = np.union1d(due, matched)
    if incoming.rows:
        found = kept.find(merging_columns(table), incoming)
        others = np.setdiff1d(found, gone, assume_unique=True)
        incoming = _merge(table, concat([kept.take(others), incoming]), bag=bag)
        gone = np.union1d(gone, others)
    after = kept.replace(gone, incoming, when=when if table.kept else None, now=now)
    if how is not None:
        kept.go_on(how, fresh, after)
    return after


def list_rules(table: SynopsisTable) -> tuple[object, ...]:
    """What of a table says which rows go, and which merge."""
    values = tuple(key.value for key in table.keys)
    return values, table.kept, table.frontier, table.samples, table.latest, table.sums


def merging_columns(table: SynopsisTable) -> list[Name]:
    """The columns that rows have to be equal in to merge, or to make one another superfluous."""
    if table.latest is not None:
        return [value(k.value) for k in table.keys if k.value not in table.latest]
    sampled = {value(a.value) for a in table.samples}
    return [name for name in table_columns(table) if name not in sampled]


def _settle_rows(table: SynopsisTable, rows: Frame, now: int) -> Frame:
    """Rows with their timestamps as they are kept, and without what expired."""
    good = np.ones(rows.rows, dtype=np.bool_)
    event: Array = np.full(rows.rows, LONG_AGO, dtype=np.int64)
    columns = dict(rows.columns)
    for kept in table.kept:
        column = _settle(columns[stamp(kept.member)], kept, now)
        if kept.expire_after is not None:
            good &= column + kept.expire_after > now
        event = np.maximum(event, column)
        columns[stamp(kept.member)] = column
    columns[EVENT] = event
    settled = Frame(rows.rows, columns)
    return settled if good.all() else settled.take(good)


def _due_times(table: SynopsisTable, rows: Frame) -> Array:
    """The marker at which each settled row expires, or a timestamp of it is forgotten."""
    due = np.full(rows.rows, FOREVER, dtype=np.int64)
    for kept in table.kept:
        column = rows[stamp(kept.member)]
        if kept.expire_after is not None:
            due = np.minimum(due, column + kept.expire_after)
        elif kept.forget_after is not None:
            forgotten = column + (kept.forget_after - 1)
            due = np.minimum(due, np.where(column == LONG_AGO, FOREVER, forgotten))
    return due


def _merge(table: SynopsisTable, rows: Frame, *, bag: bool) -> Frame:
    """Settled rows merged."""
    by = table_columns(table)
    if table.latest is not None:
        return _own(latest_rows(rows, merging_columns(table)))
    if not table.frontier:
        merged = aggregate(rows, [*by, EVENT], bag=bag)
        if table.samples:
            merged = merged.take(thin_rows(table, None, merged))
        return _own(merged)
    if len(table.frontier) == 1 and not table.samples:
        return least_rows(rows, by)
    if table.samples:
        best, _ = keep_apart(rows, table)
    else:
        best, _ = pareto_front(rows, by, len(table.frontier))
    names = [n for n in best.columns if n != UNTIL]
    return best.take(best[UNTIL] == FOREVER).select(names)


def latest_rows(rows: Frame, by: Sequence[Name]) -> Frame:
    """Of rows that are equal in some columns the one of the latest marker."""
    codes, count = group_codes([rows[n] for n in by], rows.rows)
    order = np.argsort(rows[EVENT], kind="stable")
    last = np.zeros(count, dtype=np.int64)
    last[codes[order]] = order
    return rows.take(last)


def _own(frame: Frame) -> Frame:
    """Without views, which would keep the row groups in memory that they show."""
    columns = frame.columns.items()
    return Frame(frame.rows, {n: c if c.base is None else c.copy() for n, c in columns})


def _settle(column: Array, kept: KeptTimestamp, now: int) -> Array:
    """Timestamps that no minimum distance asks for any more are forgotten."""
    if kept.expire_after is None and kept.forget_after is not None:
        return np.where(now + 1 - column >= kept.forget_after, LONG_AGO, column)
    return column
