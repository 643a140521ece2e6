"""What is remembered of a rule: for each value that may be closed, since when."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.ingest.watch_keys import hash_keys

UNKNOWN = -(1 << 62)
"""The time of a value of which nothing is remembered."""

_TOTAL, _BROKEN, _LIMITED = b"total", b"broken", b"limited"


class Values(NamedTuple):
    """The values of some rows, by two hashes; equal values have equal ones, and others do not but
    by a chance of one in 2^128."""

    first: Array
    second: Array

    def take(self, index: Array) -> "Values":
        """Those of some rows."""
        return Values(self.first[index], self.second[index])


def hash_values(rows: pa.Table, columns: tuple[str, ...]) -> Values:
    """The values of rows, none of which is NULL."""
    return Values(hash_keys(rows, columns, 1), hash_keys(rows, columns, 2))


def _words() -> Array:
    return np.zeros(0, dtype=np.uint64)


def _numbers() -> Array:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class RuleState:
    """What is remembered, in order of `first`.

    `time`: by a gap or by rows, of the last row with the value; by a span, of the first; else of
    the row that said that it was the last one (µs). `upto`: by rows, how many there were up to the
    end of that row's step; `total`: how many there were. `broken`: the rows that broke the rule
    and were let in. `limited`: whether it counts as state that is bounded.
    """

    first: Array = field(default_factory=_words)
    second: Array = field(default_factory=_words)
    time: Array = field(default_factory=_numbers)
    upto: Array = field(default_factory=_numbers)
    total: int = 0
    broken: int = 0
    limited: bool = True

    @property
    def rows(self) -> int:
        """How many values are remembered, of those that a bound counts."""
        return len(self.time) if self.limited else 0

    def find(self, values: Values) -> tuple[Array, Array]:
        """The places of values, or where they would be; and which of them are there."""
        places = np.searchsorted(self.first, values.first)
        count = len(self.first)
        while True:  # other values may share the first hash
            near = np.flatnonzero(places < count)
            at = places[near]
            other = (self.first[at] == values.first[near]) & (
                self.second[at] != values.second[near]
            )
            if not other.any():
                break
            places[near[other]] += 1
        there = np.zeros(len(places), dtype=np.bool_)
        near = np.flatnonzero(places < count)
        there[near] = self.first[places[near]] == values.first[near]
        return places, there

    def put(self, values: Values, time: Array, upto: Array) -> "RuleState":
        """With what is remembered of values; of those whose time is UNKNOWN, nothing.

        Args:
            values: distinct ones, in order of both hashes.
            time: theirs.
            upto: theirs.
        """
        places, there = self.find(values)
        times, uptos = self.time.copy(), self.upto.copy()
        times[places[there]], uptos[places[there]] = time[there], upto[there]
        new = np.flatnonzero(~there & (time != UNKNOWN))
        into = places[new]
        return replace(
            self,
            first=np.insert(self.first, into, values.first[new]),
            second=np.insert(self.second, into, values.second[new]),
            time=np.insert(times, into, time[new]),
            upto=np.insert(uptos, into, upto[new]),
        )

    def count(self, total: int) -> "RuleState":
        """With so many rows, all in all."""
        return replace(self, total=total)

    def forget(self, before: int) -> "RuleState":
        """Without the values whose time is not later than a moment, and those without one."""
        kept = self.time > max(before, UNKNOWN)
        if kept.all():
            return self
        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            time=self.time[kept],
            upto=self.upto[kept],
        )


def write_rule(state: RuleState) -> pa.Table:
    """What is remembered, as a table."""
    numbers = {_TOTAL: state.total, _BROKEN: state.broken, _LIMITED: int(state.limited)}
    columns = {
        "first": state.first.view(np.int64),
        "second": state.second.view(np.int64),
        "time": state.time,
        "upto": state.upto,
    }
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    return table.replace_schema_metadata({k: str(v).encode() for k, v in numbers.items()})


def read_rule(table: pa.Table) -> RuleState:
    """What `write_rule` wrote.

    Raises:
        KeyError, ValueError: it is something else.
    """
    said = table.schema.metadata or {}
    time, upto, first, second = (
        np.array(table.column(n).to_numpy(), dtype=np.int64)
        for n in ("time", "upto", "first", "second")
    )
    return RuleState(
        first.view(np.uint64),
        second.view(np.uint64),
        time,
        upto,
        int(said[_TOTAL]),
        int(said[_BROKEN]),
        said[_LIMITED] == b"1",
    )
