"""Count the values of a column, and say how the rows of one value lie in time."""

from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import (
    Column,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
)
from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.measure.measure_order import OrderMeter
from ontoweir.runtime.measure.measured import MeasuredColumn, ValueSpans

MOST = 1_000_000
"""So many distinct values are counted."""
FEW = 300
"""So many distinct values are told."""


class ValueCounter:
    """The values of a column, chunk by chunk."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.nulls = self.rows = 0
        self.low: Scalar | None = None
        self.high: Scalar | None = None
        self.found: pa.Array | None = None
        """The distinct values, in the order in which they came."""
        self.full = False
        """Whether there are more than are counted."""
        self.first = self.last = self.upto = np.zeros(0, dtype=np.int64)
        """By value: its first and last time, and how many rows had a value up to the last one's
        step."""
        self.count = np.zeros(0, dtype=np.int64)
        """By value, how many rows have it."""
        self.gap = self.span = self.between = self.valued = 0
        self.order = OrderMeter(column)
        self.codes: Array | None = None
        """Of the rows that came last, which value each has (-1: NULL; None: there are too many
        values)."""

    def add(self, values: "pa.ChunkedArray", times: Array) -> None:
        """More rows, in the order of time, with their timestamps (µs)."""
        if pa.types.is_null(values.type):
            self.nulls, self.rows = self.nulls + len(values), self.rows + len(values)
            self.codes = None if self.full else np.full(len(values), -1, dtype=np.int32)
            return
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        self.rows, self.nulls = self.rows + len(values), self.nulls + values.null_count
        if isinstance(self.column.type, IntType | DecimalType | FloatType | DateType):
            self._widen(values)
        self.order.add(values, times)
        if self.full:
            return
        there = pc.is_valid(values)
        self.codes = np.full(len(values), -1, dtype=np.int32)
        if values.null_count:
            values, times = values.filter(there), times[there.to_numpy()]
        if not len(values):
            return
        fresh = pc.unique(values)
        known = fresh.slice(0, 0) if self.found is None else self.found
        new = fresh.filter(pc.invert(pc.is_in(fresh, value_set=known)))
        self.found = pa.concat_arrays([known, new])
        if len(self.found) > MOST:
            self.full, self.found, self.codes = True, None, None
            self.first = self.last = self.upto = self.count = np.zeros(0, dtype=np.int64)
            return
        codes = pc.index_in(values, value_set=self.found).to_numpy()
        self.codes[there.to_numpy()] = codes
        self._count_between(codes.astype(np.int64, copy=False), times, len(new))
        self._place(codes, times, len(new))

    def finish(self) -> MeasuredColumn:
        """What was found."""
        distinct = None if self.full else 0 if self.found is None else len(self.found)
        few = None
        if distinct is not None and distinct <= FEW:
            few = () if self.found is None else tuple(sorted(map(_scalar, self.found.to_pylist())))
        if len(self.first):
            self.span = int((self.last - self.first).max())
        return MeasuredColumn(
            self.nulls,
            self.low,
            self.high,
            distinct,
            few,
            None if self.full else self.gap,
            None if self.full else self.span,
            self.order.finish(),
            None if self.full else self.between,
            None if self.full else int(self.count.max(initial=0)),
        )

    def spans(self) -> ValueSpans | None:
        """Where the rows of each value lie (None: there are too many values, or none)."""
        return None if self.found is None else ValueSpans(self.found, self.first, self.last)

    def _widen(self, values: "pa.ChunkedArray") -> None:
        ends = pc.min_max(values).as_py()
        if ends["min"] is None:
            return
        low, high = _scalar(ends["min"]), _scalar(ends["max"])
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)

    def _count_between(self, codes: Array, times: Array, new: int) -> None:
        """How many rows come in steps between one of a value and the next one of it."""
        starts = np.flatnonzero(starts_of_runs(times))
        step = np.searchsorted(starts, np.arange(len(times)), side="right") - 1
        begun = (self.valued + starts)[step]
        over = self.valued + np.append(starts[1:], len(times))
        self.upto = np.concatenate([self.upto, np.full(new, -1, dtype=np.int64)])
        order = np.argsort(codes, kind="stable")
        mine, begins, ends = codes[order], begun[order], over[step][order]
        before = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])
        fresh = starts_of_runs(mine)
        before[fresh] = self.upto[mine[fresh]]
        there = before >= 0
        self.between = max(self.between, int((begins - before)[there].max(initial=0)))
        self.upto[mine] = ends  # of several, the last one counts
        self.valued += len(times)

    def _place(self, codes: Array, times: Array, new: int) -> None:
        """Where rows of each value are in time; `codes`: which value each has."""
        codes = codes.astype(np.int64, copy=False)
        order = np.argsort(codes, kind="stable")
        codes, times = codes[order], times[order]
        starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
        ends = np.append(starts[1:], len(codes)) - 1
        inside = np.diff(times)
        inside[starts[1:] - 1] = 0
        self.gap = max(self.gap, int(inside.max(initial=0)))
        mine = codes[starts]
        before = len(self.first)
        old = mine < before
        if old.any():
            apart = times[starts][old] - self.last[mine[old]]
            self.gap = max(self.gap, int(apart.max()))
        self.first = np.concatenate([self.first, np.zeros(new, dtype=np.int64)])
        self.last = np.concatenate([self.last, np.zeros(new, dtype=np.int64)])
        self.count = np.concatenate([self.count, np.zeros(new, dtype=np.int64)])
        self.count[mine] += ends + 1 - starts
        self.first[mine[~old]] = times[starts][~old]
        self.last[mine] = times[ends]


def _scalar(value: object) -> Scalar:
    if isinstance(value, date):
        return value.isoformat()
    assert isinstance(value, int | Decimal | float | str | bool), value
    return value
