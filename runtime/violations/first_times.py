"""When values came first, and rows that come too long after that."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import Lag
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.runtime.columnar.frame import Array


class FirstTimes:
    """By the values of some columns, the first timestamp of a row that has them (µs)."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)
        self._first: dict[tuple[object, ...], int] = {}

    def add(self, rows: pa.Table, times: Array) -> None:
        """More rows, in the order of time; a NULL is no value."""
        for key, time in zip(_keys(rows, self._columns), times.tolist(), strict=True):
            if None not in key:
                self._first.setdefault(key, time)

    def find_late(self, lag: Lag, rows: pa.Table, times: Array) -> tuple[str, Array]:
        """Which rows come longer after a row with their values than a rule says, and the reason.

        Args:
            lag: the rule, of these columns of the stream behind.
            rows: of the stream that has the rule.
            times: theirs, in µs.
        """
        first = self._first
        keys = _keys(rows, lag.columns)
        since = [first.get(key, t) for key, t in zip(keys, times.tolist(), strict=True)]
        late = times - np.array(since, dtype=np.int64) > lag.within_us
        names = ", ".join(lag.columns)
        within = show_duration(lag.within_us)
        return f"more than {within} after a row of {lag.behind} with the same {names}", late


def _keys(rows: pa.Table, columns: Sequence[str]) -> "zip[tuple[object, ...]]":
    return zip(*(rows.column(name).to_pylist() for name in columns), strict=True)
