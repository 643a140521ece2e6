"""Drop a synopsis's expired rows and merge the rest, between chunks."""

import numpy as np

from ontoweir.checker.model.plan import KeptTimestamp, SynopsisTable
from ontoweir.runtime.columnar.columns import stamp, table_columns
from ontoweir.runtime.columnar.frame import EVENT, LONG_AGO, UNTIL, Array, Frame, aggregate
from ontoweir.runtime.kernel.keep_apart import keep_apart
from ontoweir.runtime.kernel.pareto_front import FOREVER, least_rows, pareto_front
from ontoweir.runtime.kernel.thin_rows import thin_rows


def compact_table(table: SynopsisTable, rows: Frame, now: int, *, bag: bool) -> Frame:
    """Merge a table's rows, once marker `now` is finished, without what expired.

    Rows that were settled before may be among them: settling again changes nothing, and the
    order in which rows are added does not matter. Counts and sums add, presence and the best
    frontier values merge.
    """
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
    kept_rows = Frame(rows.rows, columns)
    if not good.all():
        kept_rows = kept_rows.take(good)
    by = table_columns(table)
    if not table.frontier:
        merged = aggregate(kept_rows, [*by, EVENT], bag=bag)
        if table.samples:
            merged = merged.take(thin_rows(table, None, merged))
        return _own(merged)
    if len(table.frontier) == 1 and not table.samples:
        return least_rows(kept_rows, by)
    if table.samples:
        best, _ = keep_apart(kept_rows, table)
    else:
        best, _ = pareto_front(kept_rows, by, len(table.frontier))
    names = [n for n in best.columns if n != UNTIL]
    return best.take(best[UNTIL] == FOREVER).select(names)


def _own(frame: Frame) -> Frame:
    """Without views, which would keep the row groups in memory that they show."""
    columns = frame.columns.items()
    return Frame(frame.rows, {n: c if c.base is None else c.copy() for n, c in columns})


def _settle(column: Array, kept: KeptTimestamp, now: int) -> Array:
    """Timestamps that no minimum distance asks for any more are forgotten."""
    if kept.expire_after is None and kept.forget_after is not None:
        return np.where(now + 1 - column >= kept.forget_after, LONG_AGO, column)
    return column
