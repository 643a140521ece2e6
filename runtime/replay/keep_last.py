"""Of the updates of groups keep the last one of each, which is its final answer."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.results.write_results import RowSink

_FEWEST = 65_536
"""Rows that are gathered before those are looked for that later ones replace."""


class LastRows:
    """Takes rows in the order of time, and passes on the last row of each group when all are there.

    It holds about twice as many rows as there are groups.

    Args:
        sink: takes them.
        group: the columns that groups differ in; none: all rows are one group.
    """

    def __init__(self, sink: RowSink, group: Sequence[str]) -> None:
        self._sink, self._group = sink, tuple(group)
        self._held: list[pa.Table] = []
        self._kept = self._waiting = 0

    @property
    def rows(self) -> int:
        """Rows that are passed on."""
        return self._sink.rows

    def write(self, table: pa.Table) -> None:
        """Take rows."""
        if table.num_rows == 0:
            return
        self._held.append(table)
        self._waiting += table.num_rows
        if self._waiting >= max(_FEWEST, self._kept):
            self._fold()

    def append(self, file: Path) -> None:
        """Files are not taken: their rows have to be looked at."""
        raise NotImplementedError(file)

    def finish(self) -> None:
        """Pass on what is left."""
        if self._held:
            self._fold()
            self._sink.write(self._held[0])

    def _fold(self) -> None:
        table = pa.concat_tables(self._held).combine_chunks()
        codes, count = code_rows(table, self._group)
        last = np.zeros(count, dtype=np.int64)
        np.maximum.at(last, codes, np.arange(table.num_rows))
        self._held = [table.take(pa.array(np.sort(last)))]
        self._kept, self._waiting = count, 0
