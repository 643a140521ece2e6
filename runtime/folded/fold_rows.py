"""The rows of a chunk that matter of those that are equal in some columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array, codes_at, first_of, last_of, starts_of_runs
from ontoweir.runtime.folded.find_extremes import find_extremes, read_numbers
from ontoweir.runtime.folded.list_folded import Folded, Folding
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.nulls.find_there import find_there, read_buffer

_FEWEST = 4_096
"""Of fewer rows it does not pay to look for those that matter."""
_EACH = 16
"""Rows are folded where there are so many for each combination of values that they may have."""


class Folds:
    """Folds the rows of streams, until those of one are seen not to become few; by several threads.

    `pay`: rows have become few so far.
    """

    def __init__(self, folding: Folding) -> None:
        self.folding, self.pay = dict(folding), False

    def fold(self, admitted: Mapping[str, Admitted]) -> dict[str, Admitted]:
        """What was admitted, of streams that are folded only the rows that matter (fold_rows)."""
        made = dict(admitted)
        for name in admitted.keys() & self.folding.keys():
            rows = admitted[name]
            if len(rows.stamps) < _FEWEST:
                continue
            few = fold_rows(rows, self.folding[name])
            if few is None:
                self.folding = {n: f for n, f in self.folding.items() if n != name}
            else:
                made[name], self.pay = few, True
        return made


def fold_rows(rows: Admitted, folded: Folded) -> Admitted | None:
    """What was admitted of a stream, of rows that are equal in some columns only those that matter,
    with how many they stand for. All rows are counted, and so are their timestamps.

    Returns:
        None: there are few rows, or many combinations of values.
    """
    if len(rows.stamps) < _FEWEST or rows.weights is not None:
        return None
    found = _number_rows(rows, folded)
    if found is None:
        return None
    codes, counts = found
    chosen: list[Array] = []
    for extreme in sorted(folded.extremes):
        if extreme.column not in rows.table.column_names:
            return None
        column = rows.table.column(extreme.column)
        places = find_extremes(column, codes, len(counts), greatest=extreme.greatest)
        if places is None:
            return None
        chosen.append(places)
    if folded.first:
        chosen.append(first_of(codes, len(counts)))
    marks = rows.times[starts_of_runs(rows.times)] if rows.marks is None else rows.marks
    if not folded.counted:
        return replace(rows.take(np.unique(np.concatenate(chosen))), marks=marks)
    last = last_of(codes, len(counts))
    index = np.unique(np.concatenate([*chosen, last]))
    weights, place = np.ones(len(index), dtype=np.int64), np.searchsorted(index, last)
    others = np.bincount(codes[index], minlength=len(counts))
    weights[place] += counts - others
    sums: dict[str, Array] = {}
    for name in sorted(folded.sums):
        added = _add_rest(rows, name, (codes, len(counts)), index)
        if added is None:
            return None
        sums[name], rest = added
        sums[name][place] += rest
    return replace(rows.take(index), marks=marks, weights=weights, sums=sums)


def _add_rest(
    rows: Admitted, name: str, groups: tuple[Array, int], index: Array
) -> tuple[Array, Array] | None:
    """The values of a column in some rows, and for each group what those of its other rows add up
    to, NULL as 0 (None: they are of another type). No sum is too great (list_folded)."""
    if name not in rows.table.column_names:
        return None
    found = read_numbers(rows.table.column(name))
    if found is None or found[0].dtype.kind != "i":
        return None
    codes, count = groups
    values = found[0].astype(np.int64)
    total, some = (np.zeros(count, dtype=np.int64) for _ in range(2))
    np.add.at(total, codes, values)
    kept = values[index]
    np.add.at(some, codes[index], kept)
    return kept, total - some


def _number_rows(rows: Admitted, folded: Folded) -> tuple[Array, Array] | None:
    """For each row a number that differs where rows do in some columns, and of how many rows each
    number is (None: there are many numbers, or they are not known)."""
    count = len(rows.stamps)
    codes, size = np.zeros(count, dtype=np.int64), 1
    for name in sorted((folded.by | folded.present) - rows.filled):
        if name not in rows.table.column_names:
            return None
        column = rows.table.column(name)
        if name in folded.present:
            found: tuple[Array, int] | None = _number_present(column)
        else:
            found = _number_values(column, count // _EACH)
        if found is None or found[1] * size > count // _EACH:
            return None
        codes = found[0] if size == 1 else codes * found[1] + found[0]
        size *= found[1]
    counts = np.bincount(codes, minlength=size)
    there = np.flatnonzero(counts)
    return codes_at(codes, there, size), counts[there]


def _number_values(column: "pa.ChunkedArray", most: int) -> tuple[Array, int] | None:
    """For each value a whole number from 0 on, less than the number returned: equal ones have one,
    and so has NULL (None: there may be more than so many)."""
    kind = column.type
    if pa.types.is_dictionary(kind) and pa.types.is_signed_integer(kind.index_type):
        column = column.unify_dictionaries() if column.num_chunks > 1 else column
        size = max((len(c.dictionary) for c in column.chunks), default=0)
        return _number_whole([c.indices for c in column.chunks], (0, max(size, 1) - 1), most)
    if pa.types.is_null(kind):
        return np.zeros(len(column), dtype=np.int64), 1
    if pa.types.is_boolean(kind):
        return _number_whole([c.cast(pa.int8()) for c in column.chunks], (0, 1), most)
    if not pa.types.is_signed_integer(kind):
        return None
    return _number_whole(column.chunks, None, most)


def _number_present(column: "pa.ChunkedArray") -> tuple[Array, int]:
    """For each value 1, 0 where it is NULL; where none is, all are one."""
    if not column.null_count:
        return np.zeros(len(column), dtype=np.int64), 1
    there = [find_there(c) for c in column.chunks]
    return np.concatenate(there).astype(np.int64), 2


def _number_whole(
    chunks: "Sequence[pa.Array]", limits: tuple[int, int] | None, most: int
) -> tuple[Array, int] | None:
    """As _number_values, of whole numbers in pieces, which lie within limits (None: not known)."""
    pieces: list[Array] = []
    theres: list[Array | None] = []
    for chunk in chunks:
        there = find_there(chunk) if chunk.null_count else None
        whole = read_buffer(chunk, np.dtype(chunk.type.to_pandas_dtype()))
        pieces.append(whole if there is None else whole * there)
        theres.append(there)
    if limits is None:
        filled = [piece for piece in pieces if len(piece)]
        limits = int(min(p.min() for p in filled)), int(max(p.max() for p in filled))
    low, high = limits
    if low == np.iinfo(np.int64).min:  # there is no number before it, which would be that of NULL
        return None
    return _count_from(pieces, theres, low, high - low + 1) if high - low < most else None


def _count_from(
    pieces: Sequence[Array], theres: Sequence[Array | None], low: int, span: int
) -> tuple[Array, int]:
    """Whole numbers counted from the least, one after the other; those that are not `there` (None:
    all are) from the one before it."""
    first = int(any(there is not None for there in theres))
    codes = np.empty(sum(map(len, pieces)), dtype=np.int64)
    start = 0
    for piece, there in zip(pieces, theres, strict=True):
        mine = codes[start : start + len(piece)]
        start += len(piece)
        np.subtract(piece, low - first, out=mine, dtype=np.int64)
        if there is not None:
            mine *= there
    return codes, span + first
