"""The codes of a plan's strings: those of its static data and of the query, and others in use."""

from collections.abc import Callable, Hashable
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontoweir.runtime.pool.text_table import TEXT, Codes, TextTable, take_rows


class StringPool:
    """Codes of strings. Those of `permanent` are for ever, and shared by all that looks into it;
    others come after them, and are forgotten where they are not in use."""

    def __init__(self, permanent: TextTable | None = None, others: TextTable | None = None) -> None:
        self.permanent = TextTable() if permanent is None else permanent
        self.others = TextTable() if others is None else others

    def __len__(self) -> int:
        return len(self.permanent) + len(self.others)

    def code(self, text: str) -> int:
        """The code of a string, new or known."""
        return int(self.encode(pa.array([text]))[0])

    def encode(self, column: "pa.Array | pa.ChunkedArray", *, distinct: bool = False) -> Codes:
        """Codes of a column of strings, or of a dictionary of strings; -1: NULL. `distinct`: as
        TextTable.add."""
        return self.complete(column, self.permanent.find(column), distinct=distinct)

    def complete(
        self, column: "pa.Array | pa.ChunkedArray", codes: Codes, *, distinct: bool = False
    ) -> Codes:
        """The codes of a column that was looked up among the permanent ones: with those of the
        others, which may be new."""
        if not len(self.permanent):
            return self.others.add(column, distinct=distinct)
        missing = codes < 0
        if column.null_count:  # of a dictionary, which may hold NULL itself, it is found below
            missing &= column.is_valid().to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(missing)
        if len(rows) == 0:
            return codes
        whole = len(rows) == len(codes)
        added = self.others.add(column if whole else take_rows(column, rows), distinct=distinct)
        made = codes.copy()
        made[rows] = np.where(added < 0, -1, added + len(self.permanent))
        return made

    def take(self, codes: NDArray[np.int64]) -> "pa.LargeStringArray":
        """The strings of codes."""
        if not len(self.others):
            return self.permanent.take(codes)
        start = len(self.permanent)
        later = codes >= start
        if later.all():
            return self.others.take(codes - start)
        if not later.any():
            return self.permanent.take(codes)
        early = np.flatnonzero(~later)
        parts = [self.permanent.take(codes[early]), self.others.take(codes[later] - start)]
        place = np.empty(len(codes), dtype=np.int64)
        place[early] = np.arange(len(early))
        place[later] = np.arange(len(early), len(codes))
        return pa.concat_arrays(parts).take(pa.array(place))

    def move(
        self,
        texts: TextTable,
        codes: Codes,
        form: Hashable = None,
        write: "Callable[[pa.LargeStringArray], pa.Array] | None" = None,
    ) -> Codes:
        """The codes in another table for codes here (TextTable.adopt)."""
        start = len(self.permanent)
        later = codes >= start
        if not later.any():
            return texts.adopt(self.permanent, codes, form, write)
        if later.all():
            return texts.adopt(self.others, codes - start, form, write)
        moved = np.empty(len(codes), dtype=np.int64)
        moved[~later] = texts.adopt(self.permanent, codes[~later], form, write)
        moved[later] = texts.adopt(self.others, codes[later] - start, form, write)
        return moved

    def compare(self, comparison: str, text: str, codes: Codes) -> NDArray[np.bool_]:
        """How the strings of codes compare with one (TextTable.compare); of -1: False."""
        tables = (self.permanent, self.others)
        parts = [t.compare(comparison, text) for t in tables if len(t)]
        return np.concatenate([*parts, np.zeros(1, dtype=np.bool_)])[codes]

    def keep_only(self, used: NDArray[np.int64]) -> "tuple[pa.LargeStringArray, NDArray[np.int64]]":
        """The strings beside the permanent ones that are used, and for every code what it is when
        the others are forgotten (-1: forgotten)."""
        start = len(self.permanent)
        wanted = np.zeros(len(self), dtype=np.bool_)
        wanted[used[(used >= start) & (used < len(self))]] = True
        kept = np.flatnonzero(wanted)
        moved = np.full(len(self), -1, dtype=np.int64)
        moved[:start] = np.arange(start)
        moved[kept] = start + np.arange(len(kept))
        return self.others.take(kept - start), moved


@cache
def no_texts() -> "pa.LargeStringArray":
    """No strings."""
    return pa.array([], TEXT)
