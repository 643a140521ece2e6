"""Distinct texts, each with a code, that columns are looked up in."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ontoweir.runtime.pool.adopted_codes import AdoptedCodes
from ontoweir.runtime.pool.dictionary_codes import DictionaryCodes, spread
from ontoweir.runtime.pool.grow import Growing
from ontoweir.runtime.pool.hash_slots import EMPTY, HashSlots
from ontoweir.runtime.pool.hash_slots import Codes as Codes
from ontoweir.runtime.pool.hash_texts import group_hashes, hash_texts
from ontoweir.runtime.pool.take_pieces import TEXT as TEXT
from ontoweir.runtime.pool.take_pieces import GrowingTexts, take_texts

_SAMPLE = 2_048
"""Rows that are looked at to see whether texts of a column repeat."""

_SMALL = 1 << 16
"""Up to so many texts, Arrow indexes a table for a column that is not shorter in less time than it
takes to find the column's texts here, as the index stays in the processor's cache."""
_FEW = 2_048
"""Up to so many it is so for a column of any length, as to hash one takes some time in any case."""


class TextTable:
    """Distinct texts with codes 0, 1, …, in the order in which they were added.

    Texts are found by hash and compared exactly, by Arrow where the table is small. A look-up costs
    time in proportion to the column, not to the table; adding costs time in proportion to the table
    where something is new.
    Columns are of strings, or dictionaries of strings; of these the texts that rows have are looked
    up once, also where several columns have the same dictionary.
    """

    def __init__(self) -> None:
        self._texts = GrowingTexts()
        self._slots = HashSlots()
        self._compared: dict[tuple[str, str], Growing] = {}
        self._translated: dict[int, tuple[pa.LargeStringArray, Codes]] = {}
        self._dictionaries = DictionaryCodes()
        self._adopted = AdoptedCodes()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.texts,)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def texts(self) -> "pa.LargeStringArray":
        """All texts, in the order of their codes."""
        return self._texts.whole

    @property
    def nbytes(self) -> int:
        """Bytes of all texts."""
        return self._texts.nbytes

    def find(self, column: "pa.Array | pa.ChunkedArray") -> Codes:
        """The codes of texts."""
        if not len(self):
            return np.full(len(column), EMPTY, dtype=np.int64)
        return self._look_up(column, self._find, new=False)

    def add(self, column: "pa.Array | pa.ChunkedArray", *, distinct: bool = False) -> Codes:
        """The codes of texts, which get new ones where they are not there; NULL has none.
        `distinct`: no text but NULL occurs twice, which is known, so that it is not found out."""
        plain = not column.null_count and not pa.types.is_dictionary(column.type)
        look_up = self._add_distinct if distinct and plain else self._add
        return self._look_up(column, look_up, new=True)

    def take(self, codes: Codes) -> "pa.LargeStringArray":
        """The texts of codes."""
        return self._texts.take(codes)

    def translate(self, other: "TextTable", codes: Codes) -> Codes:
        """The codes here for codes of another table, each text of which is looked up once."""
        texts, known = self._translated.get(id(other), (None, np.zeros(0, dtype=np.int64)))
        if texts is not other.texts:
            known = np.append(self.find(other.texts), EMPTY)
            self._translated[id(other)] = other.texts, known
        return known[codes]

    def adopt(
        self,
        other: "TextTable",
        codes: Codes,
        form: Hashable = None,
        write: "Callable[[pa.LargeStringArray], pa.Array] | None" = None,
    ) -> Codes:
        """The codes here for codes of another table, new ones where there are none. Each is looked
        up once, also when the other table has grown since.

        Args:
            other: the other table.
            codes: its codes.
            form: names what `write` makes.
            write: makes the texts that are looked up of the other table's (None: the same ones).
        """

        if write is None and self._follow(other, codes):
            return codes

        def look_up(places: Codes) -> Codes:
            texts = other.take(places)
            if write is not None:
                return self.add(write(texts))
            if self._adopted.count(other, form) == len(self):  # all that is here is from there
                return self._append(texts)
            return self._add_distinct(texts)

        return self._adopted.look_up(other, len(other), form, codes, look_up)

    def compare(self, comparison: str, text: str) -> NDArray[np.bool_]:
        """Of every code, how its text compares with one, by code points: `less`, `less_equal`,
        `greater` or `greater_equal`, as Arrow calls them. Each text is compared once."""
        known = self._compared.setdefault((comparison, text), Growing(np.zeros(0, np.bool_)))
        if len(known) < len(self):
            more = self._texts.since(len(known))
            compared = pc.call_function(comparison, [more, pa.scalar(text, TEXT)])
            known.append(compared.to_numpy(zero_copy_only=False))
        return known.values

    def _look_up(
        self,
        column: "pa.Array | pa.ChunkedArray",
        look_up: "Callable[[pa.LargeStringArray], Codes]",
        *,
        new: bool,
    ) -> Codes:
        """Look a column up, by its dictionaries where it has them; `new`: texts that are not there
        get codes."""
        pieces = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        if pa.types.is_dictionary(column.type):
            found = [
                self._dictionaries.look_up(
                    piece, len(self), lambda texts: look_up(texts.cast(TEXT)), new=new
                )
                for piece in pieces
            ]
        else:
            texts = [piece.cast(TEXT) for piece in pieces]
            if len(pieces) > 1 and len(column) <= _SMALL:  # what each costs is more than a copy
                texts = [pa.concat_arrays(texts)]
            found = [look_up(piece) for piece in texts]
        return found[0] if len(found) == 1 else np.concatenate([*found, np.zeros(0, np.int64)])

    def _find(self, texts: "pa.LargeStringArray") -> Codes:
        if not len(self) or not len(texts):
            return np.full(len(texts), EMPTY, dtype=np.int64)
        if len(self) <= max(_FEW, min(len(texts), _SMALL)):
            found = pc.fill_null(pc.index_in(texts, value_set=self.texts), EMPTY)
            places: Codes = found.to_numpy(zero_copy_only=False).astype(np.int64)
            return places
        if not _repeats(texts):
            return self._probe(texts)
        coded = texts.dictionary_encode()
        return spread(self._probe(coded.dictionary), coded.indices)

    def _probe(self, texts: "pa.LargeStringArray") -> Codes:
        """The codes of texts, by their hashes."""
        rows = None if not texts.null_count else _list_valid(texts)
        return self._find_hashed(texts, hash_texts(texts), rows)

    def _find_hashed(
        self, texts: "pa.LargeStringArray", hashes: NDArray[np.uint64], rows: Codes | None
    ) -> Codes:
        """The codes of texts with some hashes (`rows`: of these alone)."""

        def same(rows: Codes | None, codes: Codes) -> NDArray[np.bool_]:
            mine = texts if rows is None else texts.take(pa.array(rows))
            return _equal(mine, self.take(codes))

        self._hash_rest()
        return self._slots.find(hashes, same, rows)

    def _hash_rest(self) -> None:
        """Texts of the table are hashed when others are looked up so for the first time."""
        if len(self._slots) < len(self):
            self._slots.append(hash_texts(self._texts.since(len(self._slots))))

    def _add(self, texts: "pa.LargeStringArray") -> Codes:
        if len(texts) > _SMALL and not _repeats(texts):
            return self._add_hashed(texts)
        return self._add_compared(texts)

    def _add_compared(self, texts: "pa.LargeStringArray") -> Codes:
        """As _add; those that are not there are told apart by Arrow."""
        codes = self._find(texts)
        missing = codes == EMPTY
        if texts.null_count:
            missing &= texts.is_valid().to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(missing)
        if len(rows) == 0:
            return codes
        missed = texts if len(rows) == len(texts) else texts.take(pa.array(rows))
        coded = missed.dictionary_encode()
        codes[rows] = len(self) + coded.indices.to_numpy().astype(np.int64)
        self._append(coded.dictionary)
        return codes

    def _add_hashed(self, texts: "pa.LargeStringArray") -> Codes:
        """As _add, of texts most of which seem to be there once: of those with one hash the first
        is added, and then all are compared with the texts of their codes, once."""
        if texts.null_count:
            valid = _list_valid(texts)
            every = np.full(len(texts), EMPTY, dtype=np.int64)
            every[valid] = self._add_hashed(texts.take(pa.array(valid)))
            return every
        hashes = hash_texts(texts)
        self._hash_rest()
        codes = self._slots.find(hashes, None)
        rows = np.flatnonzero(codes == EMPTY)
        if len(rows):
            firsts, groups = group_hashes(hashes[rows])
            codes[rows] = len(self) + groups
            first = rows[firsts]
            self._append(take_texts(texts, first))
            self._slots.append(hashes[first])
        equal = _equal(texts, self.take(codes))
        if not equal.all():  # some texts have one hash
            others = np.flatnonzero(~equal)
            codes[others] = self._add_compared(texts.take(pa.array(others)))
        return codes

    def _add_distinct(self, texts: "pa.LargeStringArray") -> Codes:
        """As _add, of distinct texts, none of which is NULL."""
        codes = self._find(texts)
        rows = np.flatnonzero(codes == EMPTY)
        if len(rows):
            new = texts if len(rows) == len(texts) else texts.take(pa.array(rows))
            codes[rows] = self._append(new)
        return codes

    def _follow(self, other: "TextTable", codes: Codes) -> bool:
        """Whether codes of another table are the codes here, as all texts of this one are the first
        of the other one. Where some are behind these, and all up to the last of them, they are
        added."""
        start, stop = len(self), int(codes.max(initial=-1)) + 1
        if stop <= start:
            return self._texts.follows(other._texts)
        occurs = np.zeros(stop - start, dtype=np.bool_)
        occurs[codes[codes >= start] - start] = True
        if not occurs.all() or not self._texts.follow(other._texts, stop):
            return False
        self._translated.clear()
        return True

    def _append(self, texts: "pa.LargeStringArray") -> Codes:
        """Add distinct texts that are not there: their codes."""
        codes = np.arange(len(self), len(self) + len(texts))
        self._translated.clear()
        self._texts.append(texts)
        return codes


def _restore(texts: "pa.LargeStringArray") -> TextTable:
    """A table of some distinct texts, of which no more is known."""
    table = TextTable()
    table._append(texts)
    return table


def take_rows(column: "pa.Array | pa.ChunkedArray", rows: Codes) -> "pa.Array | pa.ChunkedArray":
    """The rows at an ascending index, each chunk with its own: Arrow makes one of all chunks first,
    whose dictionaries it would unite."""
    if not isinstance(column, pa.ChunkedArray):
        return _take(column, rows)
    if column.num_chunks < 2:
        return pa.chunked_array([_take(piece, rows) for piece in column.chunks], column.type)
    starts = np.cumsum([0, *map(len, column.chunks)])
    cuts = np.searchsorted(rows, starts)
    pieces = [
        _take(piece, rows[first:last] - start)
        for piece, start, first, last in zip(
            column.chunks, starts[:-1], cuts[:-1], cuts[1:], strict=True
        )
        if last > first
    ]
    return pa.chunked_array(pieces or [column.chunk(0).slice(0, 0)], column.type)


def _take(piece: "pa.Array", rows: Codes) -> "pa.Array":
    texts = pa.types.is_string(piece.type) or pa.types.is_large_string(piece.type)
    return take_texts(piece, rows) if texts else piece.take(pa.array(rows))


def _equal(left: "pa.Array", right: "pa.Array") -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = pc.equal(left, right).to_numpy(zero_copy_only=False)
    return same


def _list_valid(texts: "pa.LargeStringArray") -> Codes:
    """The rows whose texts are not NULL."""
    return np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))


def _repeats(column: "pa.Array") -> bool:
    """Whether texts of a column seem to repeat, so that it pays to find the distinct ones first."""
    sample = column.slice(0, _SAMPLE)
    return len(column) > _SAMPLE and 2 * len(sample.unique()) < len(sample)
