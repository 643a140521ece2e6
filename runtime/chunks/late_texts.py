"""Columns of texts of a row group that are read late, portion by portion."""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.chunks.late_rows import LateColumns, LateRows, ReadRows
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.pick_texts import TextPages
from ontoweir.runtime.pool.text_table import take_rows
from ontoweir.runtime.sources.convert_table import convert_table
from ontoweir.runtime.sources.history import History

ReadColumn = Callable[[str], "pa.ChunkedArray"]
"""Reads a column of the row group whole."""


class LateTexts:
    """Splits portions of a row group, the next one each time, into columns of all rows and columns
    that are read late.

    Args:
        late: what may be read late.
        history: whose rows these are.
        pages: the columns that are read from their pages; other late ones are in the portions.
        read: for a column whose pages are not understood after all.
    """

    def __init__(
        self,
        late: LateColumns,
        history: History,
        pages: Mapping[str, TextPages],
        read: ReadColumn,
    ) -> None:
        self._late, self._history, self._read = late, history, read
        self._names = [n for n in history.columns if n in late.names]
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
        if others and not self._history.staged:
            picked = convert_table(picked, self._history.stream)
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


def open_pages(
    source: "pa.NativeFile",
    footer: "pq.FileMetaData",
    group: int,
    places: Mapping[str, int],
) -> dict[str, TextPages]:
    """Columns of a row group, by name, whose pages are understood so far; `places`: of leaves."""
    found = {}
    for name, place in places.items():
        try:
            found[name] = TextPages(source, footer, group, place)
        except (ValueError, OSError):
            continue  # Arrow reads it with the others
    return found
