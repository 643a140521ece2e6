"""Rows some of whose columns were read late: only where the others say that a row can be wanted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.coded_texts import concat_rows

FindRows = Callable[[pa.Table], "Array | None"]
"""The rows, by number, that can be wanted, by the columns that decide that (None: all)."""


@dataclass(frozen=True, slots=True)
class LateColumns:
    """Columns of a stream that are looked at only in rows that can be wanted.

    `names`: those that may be read late; `find`: which rows can be wanted; `hold`: whether no row
    is rejected because of what its columns hold (None: that is known of all rows); `dear`: those of
    them that are read late also where many rows are wanted.
    """

    names: frozenset[str]
    find: FindRows
    hold: Callable[[pa.Table], bool] | None = None
    dear: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LateRows:
    """Of consecutive rows, those that can be wanted, by number, and their late columns."""

    index: Array
    table: pa.Table

    def slice(self, first: int, count: int) -> "LateRows":
        """Those among `count` rows from number `first` on, numbered anew."""
        start, stop = (int(n) for n in np.searchsorted(self.index, (first, first + count)))
        return LateRows(self.index[start:stop] - first, self.table.slice(start, stop - start))


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Consecutive rows: the columns of all, and those that were read late (None: none)."""

    table: pa.Table
    late: LateRows | None = None

    @property
    def num_rows(self) -> int:
        """How many."""
        return int(self.table.num_rows)

    def slice(self, first: int, count: int | None = None) -> "ReadRows":
        """`count` rows (None: all) from number `first` on."""
        table = self.table.slice(first, count)
        late = self.late
        return ReadRows(table, None if late is None else late.slice(first, table.num_rows))


def put_late(table: pa.Table, early: str) -> ReadRows:
    """Rows all of which can be wanted, as if all columns but one had been read late."""
    late = LateRows(np.arange(table.num_rows), table.drop_columns([early]))
    return ReadRows(table.select([early]), late)


def concat_late(parts: Sequence[LateRows | None], rows: Sequence[int]) -> LateRows | None:
    """Rows that follow each other (None: none was read late, which is so of all or of none).

    Args:
        parts: the rows.
        rows: how many each is of.
    """
    starts = np.cumsum([0, *rows])
    late = [(p, start) for p, start in zip(parts, starts, strict=False) if p is not None]
    if not late:
        return None
    index = np.concatenate([part.index + start for part, start in late])
    return LateRows(index, concat_rows([part.table for part, _ in late]))
