"""Columns of a row group that are read late, portion by portion."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.chunks.late_rows import LateColumns, LateRows, ReadRows
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.filled_column import FilledColumn
from ontoweir.runtime.parquet.open_filled import FilledColumns
from ontoweir.runtime.parquet.pick_codes import FEW, CodedPages
from ontoweir.runtime.parquet.pick_texts import TextPages
from ontoweir.runtime.pool.text_table import take_rows

ReadColumn = Callable[[str], "pa.ChunkedArray"]
"""Reads a column of the row group whole."""
Pages: TypeAlias = TextPages | CodedPages
"""Picks some rows of a column out of its pages."""


class LatePages:
    """Splits portions of a row group, the next one each time, into columns of all rows and columns
    that are read late.

    Args:
        late: what may be read late.
        columns: the names of the columns in use, in order.
        pages: those that are read from their pages; other late ones are in the portions.
        read: for a column whose pages are not understood after all.
        convert: makes the columns of the types that are declared.
    """

    def __init__(
        self,
        late: LateColumns,
        columns: Sequence[str],
        pages: Mapping[str, Pages],
        read: ReadColumn,
        convert: Callable[[pa.Table], pa.Table],
    ) -> None:
        self._late, self._read, self._convert = late, read, convert
        self._names = [n for n in columns if n in late.names]
        self._pages = dict(pages)
        self._whole: dict[str, pa.ChunkedArray] = {}
        self._first = 0

    def split(self, table: pa.Table) -> ReadRows:
        """A portion.

        Raises:
            OSError, pa.ArrowInvalid: the file cannot be read.
        """
        found = self._late.find(table)
        index: Array = np.arange(table.num_rows) if found is None else found
        held = [n for n in self._names if n in table.column_names]
        columns = {n: take_rows(table.column(n), index) for n in held}
        others = [n for n in self._names if n not in held]
        picked = pa.table({n: self._pick(n, index + self._first) for n in others})
        picked = self._convert(picked) if others else picked
        columns |= {n: picked.column(n) for n in others}
        self._first += table.num_rows
        late = pa.table({n: columns[n] for n in self._names})
        return ReadRows(table.drop_columns(held), LateRows(index, late))

    def _pick(self, name: str, rows: Array) -> "pa.ChunkedArray":
        if name in self._pages:
            try:
                return self._pages[name].pick(rows)
            except (ValueError, OSError, pa.ArrowInvalid):
                del self._pages[name]  # whatever is wrong, Arrow says it of the file itself
        if name not in self._whole:
            self._whole[name] = self._read(name)
        values = take_rows(self._whole[name], rows)
        assert isinstance(values, pa.ChunkedArray)
        return values


def choose_late(late: LateColumns, table: pa.Table) -> LateColumns | None:
    """What is read late of a stream (None: nothing), by some of its rows: where few are wanted, all
    columns that may be; else those alone that cost much to read (`dear`).

    Args:
        late: what may be read late.
        table: some rows, with the columns that say which can be wanted.
    """
    found = late.find(table)
    if found is not None and FEW * len(found) <= table.num_rows:
        return late
    return replace(late, names=late.dear) if late.dear else None


def open_texts(
    source: "pa.NativeFile",
    footer: "pq.FileMetaData",
    group: int,
    places: Mapping[str, int],
) -> dict[str, Pages]:
    """Columns of texts of a row group, by name, whose pages are understood so far; `places`: of
    leaves."""
    found: dict[str, Pages] = {}
    for name, place in places.items():
        try:
            found[name] = TextPages(source, footer, group, place)
        except (ValueError, OSError):
            continue  # Arrow reads it with the others
    return found


def take_coded(
    names: Set[str], filled: dict[str, FilledColumn | FilledColumns]
) -> dict[str, Pages]:
    """Of some columns those that were opened (`filled`) and hold places in a dictionary, by name,
    which are taken out of these."""
    found: dict[str, Pages] = {}
    for name in names & filled.keys():
        column = filled[name]
        if isinstance(column, FilledColumn) and column.is_coded():
            found[name] = CodedPages(column)
            del filled[name]
    return found
