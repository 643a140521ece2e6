"""How far the values of a column come out of their order ([B]: scrambling distance)."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import Column, DateType, IntType
from ontoweir.runtime.columnar.frame import Array, starts_of_runs

MOST = 1_000_000
"""So many values that were the greatest in their time are remembered."""


class OrderMeter:
    """The order of a column of whole numbers, or days, chunk by chunk; rows of one timestamp have
    none."""

    def __init__(self, column: Column) -> None:
        self.known = isinstance(column.type, IntType | DateType)
        """Whether it is measured: the column has an order, and not too many greatest values."""
        self.slack = self.rows = self._total = 0
        self._greatest = self._upto = np.zeros(0, dtype=np.int64)

    def add(self, values: "pa.ChunkedArray", times: Array) -> None:
        """More rows, whole timestamps in order, with their times."""
        kind = values.type
        if not self.known or not (pa.types.is_integer(kind) or pa.types.is_date(kind)):
            self.known = self.known and pa.types.is_null(kind)
            return
        if values.null_count:
            there = pc.is_valid(values)
            values, times = values.filter(there), times[there.to_numpy()]
        if not len(values):
            return
        if pa.types.is_date(kind):
            values = values.cast(pa.date32()).cast(pa.int32())
        numbers = values.cast(pa.int64()).to_numpy()
        starts = np.flatnonzero(starts_of_runs(times))
        step = np.searchsorted(starts, np.arange(len(times)), side="right") - 1
        begun = self._total + starts
        over = self._total + np.append(starts[1:], len(times))
        most = np.maximum.reduceat(numbers, starts)
        greatest = np.maximum.accumulate(np.concatenate([self._greatest, most]))
        upto = np.concatenate([self._upto, over])
        fresh = starts_of_runs(greatest)
        greatest, upto = greatest[fresh], upto[fresh]
        self._find(numbers, begun[step], greatest, upto)
        self._greatest, self._upto, self._total = greatest, upto, int(over[-1])
        self.known = len(greatest) <= MOST

    def _find(self, numbers: Array, begun: Array, greatest: Array, upto: Array) -> None:
        """The slack and rows that these values need, by those that were the greatest."""
        first = np.searchsorted(greatest, numbers, side="right")
        there = first < len(greatest)
        there[there] = upto[first[there]] <= begun[there]
        if not there.any():
            return
        late, since = numbers[there], begun[there]
        last = greatest[np.searchsorted(upto, since, side="right") - 1]
        self.rows = max(self.rows, int((since - upto[first[there]]).max()))
        # of numbers that are too far apart, 64 bits do not hold the distance
        far = float((last.astype(np.float64) - late.astype(np.float64)).max())
        self.known = self.known and far < float(1 << 62)
        if self.known:
            self.slack = max(self.slack, int((last - late).max()))

    def finish(self) -> tuple[int, int] | None:
        """By how much a value is less than the greatest before, at most, and how many rows come
        between a greater value and it (None: it is not measured)."""
        return (self.slack, self.rows) if self.known and self._total else None
