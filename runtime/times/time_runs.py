"""The timestamps of rows in order, by runs of equal ones: what repeats is looked at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, overload

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array, starts_of_runs


@dataclass(frozen=True, slots=True)
class TimeRuns:
    """Timestamps, one for each of some rows.

    `marks`: those of runs, each other than the one before it; `first`: the number of each run's
    first row; `rows`: how many there are.
    """

    marks: Array
    first: Array
    rows: int
    _all: list[Array] = field(default_factory=list, compare=False, repr=False)

    def __len__(self) -> int:
        """How many rows there are."""
        return self.rows

    @property
    def lengths(self) -> Array:
        """How many rows each run has."""
        return np.diff(self.first, append=self.rows)

    def all(self) -> Array:
        """Of all rows."""
        if not self._all:
            self._all.append(np.repeat(self.marks, self.lengths))
        return self._all[0]

    def at(self, index: Array) -> Array:
        """Of some rows."""
        if self._all:
            return self._all[0][index]
        found: Array = self.marks[np.searchsorted(self.first, index, side="right") - 1]
        return found

    def slice(self, start: int, stop: int) -> "TimeRuns":
        """Of the rows from one number to before another."""
        stop = max(start, min(stop, self.rows))
        if start >= stop:
            return TimeRuns(self.marks[:0], self.first[:0], 0)
        if start == 0 and stop == self.rows:
            return self
        begin = int(np.searchsorted(self.first, start, side="right")) - 1
        end = int(np.searchsorted(self.first, stop))
        return TimeRuns(
            self.marks[begin:end], np.maximum(self.first[begin:end] - start, 0), stop - start
        )

    def find(self, limits: Array) -> Array:
        """How many rows are before each of some times, where they are in order."""
        ends = np.append(self.first, self.rows)
        found: Array = ends[np.searchsorted(self.marks, limits)]
        return found


Times: TypeAlias = Array | TimeRuns
"""Timestamps of rows, each by itself or by runs."""


@overload
def cut_times(times: TimeRuns, start: int, stop: int) -> TimeRuns: ...
@overload
def cut_times(times: Array, start: int, stop: int) -> Array: ...
def cut_times(times: Times, start: int, stop: int) -> Times:
    """Of the rows from one number to before another."""
    return times.slice(start, stop) if isinstance(times, TimeRuns) else times[start:stop]


def spell_times(times: Times) -> Array:
    """Each by itself."""
    return times.all() if isinstance(times, TimeRuns) else times


def pick_times(times: Times, index: Array) -> Array:
    """Of some rows."""
    return times.at(index) if isinstance(times, TimeRuns) else times[index]


def count_before(times: Times, limits: Array) -> Array:
    """Of timestamps in order, how many are before each of some times."""
    if isinstance(times, TimeRuns):
        return times.find(limits)
    found: Array = np.searchsorted(times, limits)
    return found


def find_runs(times: Array) -> TimeRuns:
    """Timestamps by runs."""
    first = np.flatnonzero(starts_of_runs(times))
    return TimeRuns(times[first], first, len(times), [times])


def join_times(parts: Sequence[Times]) -> Times:
    """Timestamps of rows that follow each other; by runs where all are."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, TimeRuns) for part in parts):
        return _join_runs([part for part in parts if isinstance(part, TimeRuns)])
    return np.concatenate([spell_times(part) for part in parts])


def read_runs_of(column: "pa.ChunkedArray") -> TimeRuns | None:
    """Timestamps in microseconds that Arrow holds by runs, without NULL (None: it is not so)."""
    if not pa.types.is_run_end_encoded(column.type):
        return None
    parts = []
    for piece in column.chunks:
        begin, count = piece.find_physical_offset(), piece.find_physical_length()
        ends = piece.run_ends.to_numpy()[begin : begin + count].astype(np.int64) - piece.offset
        values = piece.values[begin : begin + count]
        if values.null_count or values.type.unit != "us":
            return None
        first = np.zeros(count, dtype=np.int64)
        first[1:] = ends[:-1]
        parts.append(TimeRuns(values.view(pa.int64()).to_numpy(), first, len(piece)))
    return _join_runs(parts)


def _join_runs(parts: Sequence[TimeRuns]) -> TimeRuns:
    """Rows that follow each other; neighbours that are equal are one run."""
    starts = np.cumsum([0, *(len(part) for part in parts)])
    none = np.zeros(0, dtype=np.int64)
    marks = np.concatenate([none, *(part.marks for part in parts)])
    first = np.concatenate([none, *(p.first + s for p, s in zip(parts, starts, strict=False))])
    fresh = starts_of_runs(marks)
    if not fresh.all():
        marks, first = marks[fresh], first[fresh]
    return TimeRuns(marks, first, int(starts[-1]))
