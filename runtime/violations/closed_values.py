"""Rows that come after their value was closed."""

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import ClosingRule
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.runtime.columnar.frame import Array, starts_of_runs


class ClosedValues:
    """By the values of a rule's columns, what says when they are closed. It grows with them: so
    much is known of data at hand only."""

    def __init__(self, rule: ClosingRule) -> None:
        self._rule = rule
        self._last: dict[tuple[object, ...], int] = {}
        """By a gap, the time of the last row; by rows, how many there were up to its step; else the
        time of the row that said so."""
        self._rows = 0

    @property
    def reason(self) -> str:
        """Why rows are wrong."""
        rule, names = self._rule, ", ".join(self._rule.columns)
        if rule.gap_us is not None:
            return (
                f"more than {show_duration(rule.gap_us)} after the last row with the same {names}"
            )
        if rule.rows is not None:
            return f"more than {rule.rows} rows after the last row with the same {names}"
        return f"after a row with the same {names} in which {rule.ends} is true"

    def find_late(self, rows: pa.Table, times: Array) -> Array:
        """Which rows come after their value was closed.

        Args:
            rows: more of the stream, whole timestamps in order.
            times: theirs, in µs.
        """
        late = np.zeros(len(times), dtype=np.bool_)
        if not len(times):
            return late
        columns = [rows.column(name).to_pylist() for name in self._rule.columns]
        keys = list(zip(*columns, strict=True))
        rule, last = self._rule, self._last
        stamps = times.tolist()
        if rule.gap_us is not None:
            for place, (key, time) in enumerate(zip(keys, stamps, strict=True)):
                if None not in key:
                    late[place] = time - last.get(key, time) > rule.gap_us
                    last[key] = time
        elif rule.rows is not None:
            counted = np.array([None not in key for key in keys])
            total = self._rows + np.cumsum(counted)
            starts = np.flatnonzero(starts_of_runs(times))
            run = np.searchsorted(starts, np.arange(len(times)), side="right") - 1
            before = np.append(self._rows, total)[starts][run].tolist()
            after = total[np.append(starts[1:], len(times)) - 1][run].tolist()
            for place, key in enumerate(keys):
                if None not in key:
                    late[place] = before[place] - last.get(key, before[place]) > rule.rows
                    last[key] = after[place]
            self._rows = int(total[-1])
        else:
            assert rule.ends is not None
            said = rows.column(rule.ends).to_pylist()
            for place, (key, time) in enumerate(zip(keys, stamps, strict=True)):
                if None not in key:
                    late[place] = time > last.get(key, time)
                    if said[place]:
                        last.setdefault(key, time)
        return late
