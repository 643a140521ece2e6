"""The timestamps of a piece by runs, as a column: those that are known, and those that are read and
will be known."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import pyarrow as pa

from ontoweir.runtime.times.time_runs import TimeRuns, read_runs_of


class RowSource(Protocol):
    """Gives a column from its beginning to its end."""

    def take(self, rows: int) -> "pa.ChunkedArray":
        """The next rows.

        Raises:
            OSError, pa.ArrowInvalid: there are fewer, or they are not understood.
        """
        ...


class RecalledTimes:
    """A RowSource of timestamps that are known.

    Args:
        runs: all of a piece.
        kind: the type that the file has for them, of microseconds.
    """

    def __init__(self, runs: TimeRuns, kind: pa.DataType) -> None:
        ends = pa.array(np.append(runs.first[1:], runs.rows), pa.int32())
        values = pa.array(runs.marks).view(kind)
        self._all, self._done = pa.RunEndEncodedArray.from_arrays(ends, values), 0

    def take(self, rows: int) -> "pa.ChunkedArray":
        """The next rows."""
        part = self._all.slice(self._done, rows)
        if len(part) != rows:
            raise OSError("a column has fewer rows than its row group")
        self._done += rows
        return pa.chunked_array([part])


class WatchedTimes:
    """A RowSource of timestamps that are read, of which all are told when the last is taken, if
    they come by runs.

    Args:
        column: gives them.
        rows: how many there are.
        tell: is told them.
    """

    def __init__(self, column: RowSource, rows: int, tell: Callable[[TimeRuns], None]) -> None:
        self._column, self._left, self._tell = column, rows, tell
        self._parts: list[pa.Array] | None = []

    def take(self, rows: int) -> "pa.ChunkedArray":
        """The next rows."""
        found = self._column.take(rows)
        self._left -= rows
        if self._parts is None or not pa.types.is_run_end_encoded(found.type):
            self._parts = None
            return found
        self._parts += found.chunks
        if not self._left:
            runs = read_runs_of(pa.chunked_array(self._parts))
            if runs is not None:
                self._tell(runs)
            self._parts = None
        return found
