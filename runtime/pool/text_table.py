"""Distinct texts, each with a code, that columns are looked up in."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ontoweir.runtime.pool.hash_texts import hash_texts

Codes: TypeAlias = NDArray[np.int64]
"""Of every row the code of its text; -1: there is none."""

TEXT = pa.large_string()
"""The type of texts in tables: all texts of a table may be more than 2 GB."""

_EMPTY = -1
_SAMPLE = 2_048
"""Rows that are looked at to see whether texts of a column repeat."""


class TextTable:
    """Distinct texts with codes 0, 1, …, in the order in which they were added.

    Texts are found by hash and compared exactly. A look-up costs time in proportion to the
    column, not to the table; adding costs time in proportion to the table where something is new.
    """

    def __init__(self) -> None:
        self.texts: pa.LargeStringArray = pa.array([], TEXT)
        self._hashes = np.zeros(0, dtype=np.uint64)
        self._slots = np.full(16, _EMPTY, dtype=np.int64)
        self._compared: dict[tuple[str, str], NDArray[np.bool_]] = {}
        self._translated: dict[int, tuple[pa.LargeStringArray, Codes]] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def find(self, column: "pa.Array") -> Codes:
        """The codes of texts: a column of strings, or a dictionary of such."""
        return _by_distinct(column, lambda texts: self._find(texts, hash_texts(texts)))

    def add(self, column: "pa.Array") -> Codes:
        """The codes of texts, which get new ones where they are not there; NULL has none."""
        return _by_distinct(column, self._add)

    def take(self, codes: Codes) -> "pa.LargeStringArray":
        """The texts of codes."""
        return self.texts.take(pa.array(codes))

    def translate(self, other: "TextTable", codes: Codes) -> Codes:
        """The codes here for codes of another table, each text of which is looked up once."""
        texts, known = self._translated.get(id(other), (None, np.zeros(0, dtype=np.int64)))
        if texts is not other.texts:
            known = np.append(self._find(other.texts, other._hashes), _EMPTY)
            self._translated[id(other)] = other.texts, known
        return known[codes]

    def compare(self, comparison: str, text: str) -> NDArray[np.bool_]:
        """Of every code, how its text compares with one, by code points: `less`, `less_equal`,
        `greater` or `greater_equal`, as Arrow calls them. Each text is compared once."""
        asked = (comparison, text)
        if asked not in self._compared:
            compared = pc.call_function(comparison, [self.texts, pa.scalar(text, TEXT)])
            self._compared[asked] = compared.to_numpy(zero_copy_only=False)
        return self._compared[asked]

    def _find(self, texts: "pa.LargeStringArray", hashes: NDArray[np.uint64]) -> Codes:
        codes = np.full(len(texts), _EMPTY, dtype=np.int64)
        if not len(self) or not len(texts):
            return codes
        mask = len(self._slots) - 1
        place = (hashes & np.uint64(mask)).astype(np.int64)
        # rows that are looked for still; None: all
        rows: Codes | None = None
        if texts.null_count:
            rows = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
            place = place[rows]
        while len(place):
            there = self._slots[place]
            mine = hashes if rows is None else hashes[rows]
            like = (there != _EMPTY) & (self._hashes[there] == mine)
            hit = np.flatnonzero(like)
            if len(hit):
                whole = rows is None and len(hit) == len(texts)
                seen = hit if rows is None else rows[hit]
                same = _equal(texts if whole else texts.take(pa.array(seen)), self.take(there[hit]))
                codes[seen[same]] = there[hit][same]
                like[hit] = same
            going = np.flatnonzero((there != _EMPTY) & ~like)
            rows = going if rows is None else rows[going]
            place = (place[going] + 1) & mask
        return codes

    def _add(self, texts: "pa.LargeStringArray") -> Codes:
        hashes = hash_texts(texts)
        codes = self._find(texts, hashes)
        missing = codes == _EMPTY
        if texts.null_count:
            missing &= texts.is_valid().to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(missing)
        if len(rows) == 0:
            return codes
        coded = texts.take(pa.array(rows)).dictionary_encode()
        inner = coded.indices.to_numpy().astype(np.int64)
        codes[rows] = len(self) + inner
        first = np.zeros(len(coded.dictionary), dtype=np.int64)
        first[inner[::-1]] = rows[::-1]
        self._append(coded.dictionary, hashes[first])
        return codes

    def _append(self, texts: "pa.LargeStringArray", hashes: NDArray[np.uint64]) -> None:
        """Add distinct texts that are not there."""
        self._compared.clear()
        self._translated.clear()
        start = len(self)
        self.texts = pa.concat_arrays([self.texts, texts])
        self._hashes = np.concatenate([self._hashes, hashes])
        size = len(self._slots)
        while size < 2 * len(self):
            size *= 2
        if size != len(self._slots):
            self._slots = np.full(size, _EMPTY, dtype=np.int64)
            start = 0
        codes = np.arange(start, len(self), dtype=np.int64)
        place = (self._hashes[start:] & np.uint64(size - 1)).astype(np.int64)
        while len(codes):
            free = self._slots[place] == _EMPTY
            self._slots[place[free]] = codes[free]  # of several at one place one stays
            left = self._slots[place] != codes
            codes, place = codes[left], (place[left] + 1) & (size - 1)


def _equal(left: "pa.Array", right: "pa.Array") -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = pc.equal(left, right).to_numpy(zero_copy_only=False)
    return same


def _by_distinct(column: "pa.Array", look_up: "Callable[[pa.LargeStringArray], Codes]") -> Codes:
    """Look a column up, by its distinct texts where it has them or where they repeat."""
    if not pa.types.is_dictionary(column.type):
        if not _repeats(column):
            return look_up(column.cast(TEXT))
        column = column.dictionary_encode()
    codes = look_up(column.dictionary.cast(TEXT))
    indices = column.indices
    if not indices.null_count:
        places: Codes = codes[indices.to_numpy()]
        return places
    there = indices.is_valid().to_numpy(zero_copy_only=False)
    known = np.full(len(indices), _EMPTY, dtype=np.int64)
    known[there] = codes[indices.drop_null().to_numpy()]
    return known


def _repeats(column: "pa.Array") -> bool:
    """Whether texts of a column seem to repeat, so that it pays to find the distinct ones first."""
    sample = column.slice(0, _SAMPLE)
    return len(column) > _SAMPLE and 2 * len(sample.unique()) < len(sample)
