"""Rows of an Arrow table of which a batch looks up and replaces a few."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.columns import stamp, value
from ontoweir.runtime.columnar.frame import SLOT, Array, Frame
from ontoweir.runtime.kept.hash_columns import hash_columns
from ontoweir.runtime.kept.kept_rows import KeptRows
from ontoweir.runtime.pool.take_pieces import take_pieces

_SPARE = 1 << 13
"""Rows that are gone but not forgotten, beside as many as there are."""
_DUE = stamp(0)

When: TypeAlias = Callable[[pa.Table], Array]
"""When each of some rows is due (int64)."""


class KeptTable:
    """As KeptRows, of rows of an Arrow table, which are found by some columns.

    Args:
        table: the rows.
        names: the columns.
        when: when rows are due, always the same of the same row (None: never).
        others: other columns that they are found by.
    """

    __slots__ = ("_others", "_pieces", "_rows", "_starts", "_table", "_when", "names", "schema")

    def __init__(
        self,
        table: pa.Table,
        names: Sequence[str],
        when: When | None = None,
        others: Sequence[tuple[str, ...]] = (),
    ) -> None:
        self.names, self._when, self.schema = tuple(names), when, table.schema
        self._others = tuple(others)
        self._pieces: tuple[pa.Table, ...] = (table.combine_chunks(),)
        self._starts: tuple[int, ...] = (0,)
        self._rows = KeptRows(self._describe(table, 0))
        self._table: pa.Table | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _same, (self.table(),)

    @property
    def num_rows(self) -> int:
        """How many there are."""
        return self._rows.rows

    @property
    def nbytes(self) -> int:
        """About the bytes of the rows."""
        size: int = sum(piece.nbytes for piece in self._pieces)
        return round(size * self.num_rows / max(self._end, 1))

    @property
    def _end(self) -> int:
        return self._starts[-1] + int(self._pieces[-1].num_rows)

    def _describe(self, table: pa.Table, start: int) -> Frame:
        """What finds rows, the first of which has a number."""
        columns = {SLOT: start + np.arange(table.num_rows)}
        for place, names in enumerate((self.names, *self._others)):
            keys = np.zeros(table.num_rows, dtype=np.int64)
            if names:
                keys = hash_columns(table.select(list(names))).view(np.int64)
            columns[value(place)] = keys
        if self._when is not None:
            columns[_DUE] = self._when(table)
        return Frame(table.num_rows, columns)

    def table(self) -> pa.Table:
        """All rows, by place."""
        if self._table is None:
            self._table = self.take(np.arange(self.num_rows))
        return self._table

    def take(self, places: Array) -> pa.Table:
        """The rows at some places."""
        numbers = self._rows.column(SLOT)[places]
        return take_pieces(self._pieces, self._starts, numbers, self._join)

    def _join(self, parts: Sequence[pa.Table]) -> pa.Table:
        """Some rows, one part after the other."""
        return pa.concat_tables([self.schema.empty_table(), *parts]).combine_chunks()

    def find(self, wanted: pa.Table, names: Sequence[str] | None = None) -> Array:
        """The places, in order, of all rows that are equal to one of those wanted in the columns
        that rows are found by (without any: all rows); of other rows few.

        Args:
            wanted: has these columns.
            names: others that rows are found by, or the same (None: the same).
        """
        names = self.names if names is None else tuple(names)
        if not names:
            return np.arange(self.num_rows if wanted.num_rows else 0)
        key = value((self.names, *self._others).index(names))
        hashes = hash_wanted(self.schema, wanted, names)
        return self._rows.find([key], Frame(len(hashes), {key: hashes.view(np.int64)}))

    def due(self, now: int) -> Array:
        """The places, in order, of the rows that are due by now."""
        return self._rows.due(now, _due)

    def replace(self, places: Array, table: pa.Table, now: int | None = None) -> "KeptTable":
        """The rows with others in the place of some.

        Args:
            places: of the rows that go, distinct and in order.
            table: the others, with the same columns.
            now: nothing is due by now any more (None: nothing is ever due).
        """
        after = KeptTable.__new__(KeptTable)
        after.names, after._when, after.schema = self.names, self._when, self.schema
        after._others, after._table = self._others, None
        described = self._describe(table, self._end)
        when = None if self._when is None else _due
        after._rows = self._rows.replace(places, described, when=when, now=now)
        pieces, starts = [*self._pieces, table.combine_chunks()], [*self._starts, self._end]
        while len(pieces) > 1 and pieces[-2].num_rows < 2 * pieces[-1].num_rows:
            pieces[-2:] = [pa.concat_tables(pieces[-2:]).combine_chunks()]
            starts.pop()
        after._pieces, after._starts = tuple(pieces), tuple(starts)
        if after._end > 2 * after.num_rows + _SPARE:
            return KeptTable(after.table(), self.names, self._when, self._others)
        return after


def _due(rows: Frame) -> Array:
    due: Array = rows[_DUE]
    return due


def hash_wanted(schema: pa.Schema, wanted: pa.Table, names: Sequence[str]) -> Array:
    """The hashes of rows in some columns, of the types that those of other rows have. A value that
    these have not, as a sum has more digits, has the hash of any."""
    fields = [schema.field(name) for name in names]
    columns = [wanted.column(f.name).cast(f.type, safe=False) for f in fields]
    return hash_columns(pa.table(columns, schema=pa.schema(fields)))


def whole_table(held: "pa.Table | KeptTable") -> pa.Table:
    """All rows that are kept."""
    return held.table() if isinstance(held, KeptTable) else held


def _same(table: pa.Table) -> pa.Table:
    return table
