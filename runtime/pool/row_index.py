"""Distinct rows, each with a place, in which rows of further columns are looked up."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ontoweir.runtime.pool.hash_slots import EMPTY, Codes, HashSlots
from ontoweir.runtime.pool.text_table import TextTable

_MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))


class RowIndex:
    """Distinct rows of whole numbers, with places 0, 1, … in the order in which they were added.

    Rows are found by hash and compared exactly. It only grows: who keeps something at its places
    knows by its length whether others have added to it since. A copy, and what is unpickled, is
    empty.
    """

    def __init__(self) -> None:
        self._slots = HashSlots()
        self._columns: list[NDArray[np.int64]] = []

    def __len__(self) -> int:
        return len(self._slots)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def add(self, columns: Sequence[NDArray[np.int64]]) -> Codes:
        """The places of distinct rows, which get new ones where they are not there; there is at
        least one column, and their number is always the same."""
        if not self._columns:
            self._columns = [column[:0] for column in columns]
        hashes = _hash_rows(columns)

        def same(rows: Codes | None, places: Codes) -> NDArray[np.bool_]:
            equal = np.ones(len(places), dtype=np.bool_)
            for mine, known in zip(columns, self._columns, strict=True):
                equal &= (mine if rows is None else mine[rows]) == known[places]
            return equal

        places = self._slots.find(hashes, same)
        fresh = np.flatnonzero(places == EMPTY)
        if len(fresh):
            places[fresh] = len(self) + np.arange(len(fresh))
            self._slots.append(hashes[fresh])
            pairs = zip(self._columns, columns, strict=True)
            self._columns = [np.concatenate([known, mine[fresh]]) for known, mine in pairs]
        return places


class KeyIndex:
    """As RowIndex, of rows of an Arrow table; in its places NULL equals NULL, and -0.0 equals 0.0.
    All tables have the same types."""

    def __init__(self) -> None:
        self._rows = RowIndex()
        self._texts: dict[int, TextTable] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def add(self, keys: pa.Table, rows: int) -> Codes:
        """The places of distinct rows; `rows`: how many there are, as without columns no table
        says it (then at most one)."""
        present = np.zeros(rows, dtype=np.int64)
        columns = [present]
        for place, column in enumerate(keys.columns):
            flat = column.combine_chunks()
            there = np.ones(rows, dtype=np.bool_)
            if flat.null_count:
                there = flat.is_valid().to_numpy(zero_copy_only=False)
                present |= ~there << np.int64(place % 63)
            columns += [np.where(there, words, 0) for words in self._encode(place, flat)]
            if place % 63 == 62:  # the next columns' NULLs have a number of their own
                present = np.zeros(rows, dtype=np.int64)
                columns.append(present)
        return self._rows.add(columns)

    def _encode(self, place: int, column: "pa.Array") -> list[NDArray[np.int64]]:
        """Whole numbers that are equal where values are; of NULL any."""
        kind = column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return [self._texts.setdefault(place, TextTable()).add(column)]
        if pa.types.is_decimal(kind):
            words = np.frombuffer(column.buffers()[1], dtype="<i8").reshape(
                -1, kind.byte_width // 8
            )
            words = words[column.offset : column.offset + len(column)]
            return [np.ascontiguousarray(words[:, n]) for n in range(words.shape[1])]
        if pa.types.is_floating(kind):
            numbers = pc.fill_null(column.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
            return [(numbers + 0.0).view(np.int64)]
        if pa.types.is_date32(kind):
            column = column.cast(pa.int32())
        whole = pc.fill_null(column.cast(pa.int64()), 0)
        return [whole.to_numpy(zero_copy_only=False)]


def _hash_rows(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.uint64]:
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        hashes ^= column.view(np.uint64)
        hashes *= _MULTIPLIERS[0]
        hashes ^= hashes >> np.uint64(32)
    hashes *= _MULTIPLIERS[1]
    hashes ^= hashes >> np.uint64(29)
    return hashes
