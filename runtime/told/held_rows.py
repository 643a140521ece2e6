"""What the changes of a history lead to: the rows that hold at its end."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.runtime.changes.sliding_groups import OP
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.groups.repeat_rows import repeat_rows
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY
from ontoweir.runtime.results.write_results import RowSink

_FEWEST = 65_536
"""Changes that are gathered before those are left out that others take back."""


class HeldRows:
    """Takes changes (+ and -) in the order of time, and passes on the + rows that none took back
    when all are there: each with the time since when it holds, and how often it does.

    Args:
        sink: takes them.
        expand: repeat rows instead of a column `multiplicity`.
    """

    def __init__(self, sink: RowSink, *, expand: bool) -> None:
        self._sink, self._expand = sink, expand
        self._held: list[pa.Table] = []
        self._kept = self._waiting = 0

    @property
    def rows(self) -> int:
        """Rows that are passed on."""
        return self._sink.rows

    def write(self, table: pa.Table) -> None:
        """Take changes."""
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
        """Pass on what holds."""
        if not self._held:
            return
        self._fold()
        (held,) = self._held
        held = held.take(pa.array(np.argsort(held.column(AT).to_numpy(), kind="stable")))
        if not self._expand or MULTIPLICITY not in held.column_names:
            self._sink.write(held)
            return
        for part in repeat_rows(held):
            self._sink.write(part)

    def _fold(self) -> None:
        table = pa.concat_tables(self._held).combine_chunks()
        shown = [n for n in table.column_names if n not in (AT, OP, MULTIPLICITY)]
        begins = np.array(table.column(OP).to_pylist()) == "+"
        times = np.ones(table.num_rows, dtype=np.int64)
        if MULTIPLICITY in table.column_names:
            times = table.column(MULTIPLICITY).to_numpy()
        codes, count = code_rows(table, shown)
        net = np.zeros(count, dtype=np.int64)
        np.add.at(net, codes, np.where(begins, times, -times))
        last = np.zeros(count, dtype=np.int64)
        np.maximum.at(last, codes[begins], np.flatnonzero(begins))
        kept = np.sort(last[net > 0])
        table = table.take(pa.array(kept))
        if MULTIPLICITY in table.column_names:
            place = table.column_names.index(MULTIPLICITY)
            field = table.schema.field(MULTIPLICITY)
            table = table.set_column(place, field, pa.array(net[codes[kept]], field.type))
        self._held = [table]
        self._kept, self._waiting = len(kept), 0
