"""Rows that come and go, of which those with the first numbers of each key hold."""

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.runtime.columnar.frame import LONG_AGO, Array
from ontoweir.runtime.numbered.keep_first import FirstChanges
from ontoweir.runtime.numbered.slide_first import list_first, slide_first
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL


def number_spans(
    standing: Standing, rows: pa.Table, begins: Array, ends: Array, now: int
) -> FirstChanges:
    """What begins and ends, up to a time, of the rows with the first numbers. Nothing of it is
    held: whoever tells the rows tells, the next time, those that hold.

    Args:
        standing: the key, the order, and which numbers.
        rows: that hold, or held since the last time.
        begins, ends: from when on, and until when, each does (µs; LONG_AGO: since before; an end
            after `now`: nobody knows).
        now: nothing is still to come up to it (µs since 1970).
    """
    return slide_first(standing, None, _date(standing, rows, begins, ends), now)


def number_held(standing: Standing, rows: pa.Table) -> pa.Table:
    """The rows with the first numbers, with them, of those that hold."""
    begins, ends = (np.full(rows.num_rows, at, dtype=np.int64) for at in (LONG_AGO, 1 << 62))
    return list_first(standing, _date(standing, rows, begins, ends))


def _date(standing: Standing, rows: pa.Table, begins: Array, ends: Array) -> pa.Table:
    """The rows as they come in windows, each once, with a number that is not known yet."""
    first, own = standing.first, (AT, UNTIL, MULTIPLICITY)
    assert first is not None
    ones = pa.array(np.ones(rows.num_rows, dtype=np.int64))
    rows = rows.select([n for n in rows.column_names if n not in own])
    if first.number is not None:
        rows = rows.append_column(first.number, ones)
    rows = rows.append_column(AT, pa.array(begins).cast(INSTANT))
    rows = rows.append_column(UNTIL, pa.array(ends).cast(INSTANT))
    return rows.append_column(MULTIPLICITY, ones)
