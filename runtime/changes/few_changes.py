"""Changes where much is held and little has come: what that touches is looked at."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.runtime.changes.change_feed import TIME, ChangeFeed, advance_changes
from ontoweir.runtime.columnar.frame import LONG_AGO, Array
from ontoweir.runtime.kept.kept_rows import are_few
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.results.render_results import AT, UNTIL


def advance_few_changes(
    feed: ChangeFeed,
    held: "pa.Table | KeptTable | None",
    answers: pa.Table,
    now: int,
    others: Sequence[tuple[str, ...]] = (),
) -> "tuple[pa.Table, pa.Table | KeptTable | None]":
    """As advance_changes: of what is held only that is looked at which answers replace, or add to,
    or which is to come by now; `others`: further columns that what is held is found by."""
    whole = feed.sliding is not None or feed.ending is not None
    first = feed.first
    whole |= first is not None and (not first.key or first.distinct or feed.groups is not None)
    if held is None or whole or not are_few(answers.num_rows, held.num_rows):
        return advance_changes(feed, None if held is None else whole_table(held), answers, now)
    timed = feed.group is None and not feed.latest and (first is None or feed.ends)
    if not isinstance(held, KeptTable):
        key = feed.latest if first is None else first.key
        names = feed.group if feed.group is not None else key or feed.variables
        when = _begin_or_end if first is None else _begin_then_end
        held = KeptTable(held, names, when if timed else None, others)
    touched = held.find(answers)
    if timed:
        due = held.due(now)
        touched = np.union1d(touched, held.find(held.take(due)))
    made, left = advance_changes(feed, held.take(touched), answers, now)
    left = held.schema.empty_table() if left is None else left.cast(held.schema)
    after = held.replace(touched, left, now)
    return made, after if after.num_rows else None


def _begin_or_end(rows: pa.Table) -> Array:
    """When each change comes (µs)."""
    times: Array = rows.column(TIME).cast(pa.int64()).to_numpy()
    return times


def _begin_then_end(rows: pa.Table) -> Array:
    """When each row begins, or if it has begun, ends (µs)."""
    begins, ends = (rows.column(n).cast(pa.int64()).to_numpy() for n in (AT, UNTIL))
    due: Array = np.where(begins == LONG_AGO, ends, begins)
    return due
