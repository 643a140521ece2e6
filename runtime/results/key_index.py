"""Distinct rows of Arrow tables, each with a place, in which further rows are looked up."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array, first_of, group_codes
from ontoweir.runtime.pool.hash_slots import EMPTY
from ontoweir.runtime.pool.row_index import RowIndex
from ontoweir.runtime.pool.text_columns import CODE, read_codes


class KeyIndex:
    """As RowIndex, of rows of Arrow tables, which may repeat; NULL equals NULL, and -0.0 equals
    0.0. All tables have the same types; texts are codes (code_columns)."""

    def __init__(self) -> None:
        self._rows = RowIndex()
        self._places: Array = np.zeros(0, dtype=np.int64)
        """Where codes are all the columns there are: of NULL, then of code 0, 1, … (EMPTY: none)"""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def add(self, keys: pa.Table, rows: int) -> tuple[Array, Array]:
        """The places of rows, which get new ones where they are not there; and the first rows of
        those that are new, by place. `rows`: how many there are, as without columns no table says
        it."""
        if keys.schema.types == [CODE]:
            return self._add_codes(keys.column(0))
        columns = [_encode_column(_combine(column)) for column in keys.columns]
        telling = [word for words, there in columns for word in (*words, there) if word is not None]
        codes, count = group_codes(telling, rows)
        firsts = np.zeros(rows, dtype=np.bool_)
        firsts[first_of(codes, count)] = True
        known, at = len(self), np.flatnonzero(firsts)
        order = codes[at]  # new ones get their places in the order of rows
        none, all_there = np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.int64)
        words = [none]
        for mine, there in columns:
            words += (word[at] for word in mine)
            words.append(all_there if there is None else there[at])
        found = self._rows.add(words)
        self._count = len(self._rows)
        places = np.empty(count, dtype=np.int64)
        places[order] = found
        return places[codes], at[found >= known]

    def _add_codes(self, column: "pa.ChunkedArray") -> tuple[Array, Array]:
        """As add, of rows of one column of codes: their places are in a table by code."""
        codes = read_codes(column) + 1
        most = int(codes.max(initial=-1)) + 1
        if most > len(self._places):
            more = np.full(max(most, 2 * len(self._places)) - len(self._places), EMPTY)
            self._places = np.concatenate([self._places, more])
        places = self._places[codes]
        missing = np.flatnonzero(places == EMPTY)
        if not len(missing):
            return places, missing
        self._places[codes[missing[::-1]]] = missing[::-1]  # of several rows the first stays
        fresh = missing[self._places[codes[missing]] == missing]
        self._places[codes[fresh]] = self._count + np.arange(len(fresh))
        self._count += len(fresh)
        places[missing] = self._places[codes[missing]]
        return places, fresh


def _combine(column: "pa.ChunkedArray") -> "pa.Array":
    """All of a column, which is copied only where it is in pieces."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _encode_column(column: "pa.Array") -> tuple[list[Array], Array | None]:
    """Whole numbers that are equal where values are, and, of NULL 0, which are values (None: all);
    looked at for each row, so that what tells no rows apart is left out."""
    words = _encode(column)
    if not column.null_count:
        return words, None
    there = column.is_valid().to_numpy(zero_copy_only=False).astype(np.int64)
    return [np.where(there, word, 0) for word in words], there


def _encode(column: "pa.Array") -> list[Array]:
    """Whole numbers that are equal where values are; of NULL any."""
    kind = column.type
    if pa.types.is_decimal(kind):
        words = np.frombuffer(column.buffers()[1], dtype="<i8").reshape(-1, kind.byte_width // 8)
        words = words[column.offset : column.offset + len(column)]
        return [np.ascontiguousarray(words[:, n]) for n in range(words.shape[1])]
    if pa.types.is_floating(kind):
        numbers = pc.fill_null(column.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
        return [(numbers + 0.0).view(np.int64)]
    if pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    whole = column.cast(pa.int64())
    if whole.null_count:
        whole = pc.fill_null(whole, 0)
    return [whole.to_numpy(zero_copy_only=False)]
