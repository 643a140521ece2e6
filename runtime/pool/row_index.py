"""Distinct rows, each with a place, in which rows of further columns are looked up."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontoweir.runtime.pool.grow import Growing
from ontoweir.runtime.pool.hash_slots import EMPTY, Codes, HashSlots

_MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))


class RowIndex:
    """Distinct rows of whole numbers, with places 0, 1, … in the order in which they were added.

    Rows are found by hash and compared exactly. It only grows: who keeps something at its places
    knows by its length whether others have added to it since. A copy, and what is unpickled, is
    empty.
    """

    def __init__(self) -> None:
        self._slots = HashSlots()
        self._columns: list[Growing] = []

    def __len__(self) -> int:
        return len(self._slots)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def add(self, columns: Sequence[NDArray[np.int64]]) -> Codes:
        """The places of distinct rows, which get new ones where they are not there; there is at
        least one column, and their number is always the same."""
        if not self._columns:
            self._columns = [Growing(column[:0]) for column in columns]
        hashes = hash_words(columns)

        def same(rows: Codes | None, places: Codes) -> NDArray[np.bool_]:
            equal = np.ones(len(places), dtype=np.bool_)
            for mine, known in zip(columns, self._columns, strict=True):
                equal &= (mine if rows is None else mine[rows]) == known.values[places]
            return equal

        places = self._slots.find(hashes, same)
        fresh = np.flatnonzero(places == EMPTY)
        if len(fresh):
            places[fresh] = len(self) + np.arange(len(fresh))
            self._slots.append(hashes[fresh])
            for known, mine in zip(self._columns, columns, strict=True):
                known.append(mine[fresh])
        return places


def hash_words(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.uint64]:
    """A number for each row of whole numbers, equal where rows are; of at least one column."""
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        hashes ^= column.view(np.uint64)
        hashes *= _MULTIPLIERS[0]
        hashes ^= hashes >> np.uint64(32)
    hashes *= _MULTIPLIERS[1]
    hashes ^= hashes >> np.uint64(29)
    return hashes
