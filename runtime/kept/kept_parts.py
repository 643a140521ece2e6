"""Tables that are kept together, as one."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ontoweir.runtime.kept.kept_table import KeptTable, whole_table

Part: TypeAlias = "pa.Table | KeptTable | KeptParts | None"
"""The rows of a part (None: there are none)."""
HELD = "_part"
"""The column of the one table that says of which part a row is."""


class KeptParts:
    """The rows of several parts, which become one table where they are written."""

    __slots__ = ("_table", "parts", "wholly")

    def __init__(self, parts: Sequence[Part], wholly: int = 0) -> None:
        self.parts = tuple(parts)
        self.wholly = wholly
        """In how many of the next batches all rows are looked at, as few did not suffice."""
        self._table: pa.Table | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _same, (self.table(),)

    @property
    def num_rows(self) -> int:
        """How many there are."""
        return sum(0 if part is None else part.num_rows for part in self.parts)

    @property
    def nbytes(self) -> int:
        """About the bytes of the rows."""
        return sum(0 if part is None else part.nbytes for part in self.parts)

    def table(self) -> pa.Table:
        """The rows of all parts, of which there is one at least; the names of a part's columns have
        its number before them."""
        if self._table is None:
            self._table = _pack(self.parts)
        return self._table


def part_tables(held: "pa.Table | KeptTable | KeptParts | None", size: int) -> tuple[Part, ...]:
    """The rows of each of so many parts."""
    if held is None:
        return (None,) * size
    return held.parts if isinstance(held, KeptParts) else _unpack(whole_table(held), size)


def _unpack(held: pa.Table, size: int) -> tuple[Part, ...]:
    made: list[Part] = []
    of = held.column(HELD).to_numpy()
    for number in range(size):
        mine = held.filter(pa.array(of == number))
        names = [n for n in mine.column_names if n.startswith(f"{number} ")]
        table = mine.select(names).rename_columns([n.partition(" ")[2] for n in names])
        made.append(table.combine_chunks() if mine.num_rows else None)
    return tuple(made)


def _pack(parts: Sequence[Part]) -> pa.Table:
    tables = []
    for number, part in enumerate(parts):
        if part is None or not part.num_rows:
            continue
        one = part.table() if isinstance(part, KeptParts) else whole_table(part)
        named = one.rename_columns([f"{number} {n}" for n in one.column_names])
        which = pa.array(np.full(one.num_rows, number, dtype=np.int64))
        tables.append(named.append_column(HELD, which))
    return pa.concat_tables(tables, promote_options="default")


def _same(table: pa.Table) -> pa.Table:
    return table
