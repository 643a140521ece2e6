"""Rows of a value of which there are more than is declared."""

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import ClosingRule
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.group_state import GroupState, add_groups


class ValueRows:
    """How many rows came of each value of a rule's columns (`max_rows_per_value`). It grows with
    them: so much is known of data at hand only."""

    def __init__(self, rule: ClosingRule, most: int) -> None:
        self._columns, self._most = list(rule.columns), most
        self._values = GroupState()
        self._count = np.zeros(0, dtype=np.int64)
        self._texts: dict[str, TextTable] = {}

    @property
    def reason(self) -> str:
        """Why rows are wrong."""
        return f"after {self._most} other rows with the same {', '.join(self._columns)}"

    def find_late(self, rows: pa.Table, times: Array) -> Array:
        """Which rows come after as many as there may be; a NULL is no value.

        Args:
            rows: more of the stream, whole timestamps in order.
            times: theirs, in µs.
        """
        late = np.zeros(len(times), dtype=np.bool_)
        keys = rows.select(self._columns)
        there = np.ones(len(times), dtype=np.bool_)
        for column in keys.columns:
            there &= column.is_valid().to_numpy()
        chosen = np.flatnonzero(there)
        if not len(chosen):
            return late
        keys = keys.take(pa.array(chosen))
        coded = {n: self._code(n, keys.column(n)) for n in self._columns}
        self._values, places = add_groups(self._values, pa.table(coded), len(chosen))
        count = np.zeros(self._values.count, dtype=np.int64)
        count[: len(self._count)] = self._count
        order = np.argsort(places, kind="stable")
        mine = places[order]
        number = np.arange(len(mine)) - np.searchsorted(mine, mine)
        late[chosen[order]] = count[mine] + number >= self._most
        np.add.at(count, places, 1)
        self._count = count
        return late

    def _code(self, name: str, column: "pa.ChunkedArray") -> "pa.ChunkedArray | pa.Array":
        """Values by which groups can be told: of texts, their codes."""
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return column
        return pa.array(self._texts.setdefault(name, TextTable()).add(column))
