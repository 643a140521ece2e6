"""Rows that repeat a declared key."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array


def find_repeated_keys(
    groups: Array, columns: Sequence["pa.ChunkedArray"], first: Array | None = None
) -> Array:
    """Which rows have the key of an earlier row of their group; keys with a NULL never repeat.

    Args:
        groups: a number per row; rows of one group are compared.
        columns: the key.
        first: the first row of every group, where groups are in order (None: find out).
    """
    rows = len(groups)
    repeats = np.zeros(rows, dtype=np.bool_)
    if rows == 0:
        return repeats
    if len(columns) == 1 and _ascends(groups, columns[0], first):
        return repeats
    codes = groups - int(groups.min())
    span = int(codes.max()) + 1
    whole = np.ones(rows, dtype=np.bool_)
    for column in columns:
        if column.null_count:
            whole &= pc.is_valid(column).to_numpy()
        inner = _numbers(column)
        least = int(inner.min())
        size = int(inner.max()) - least + 1  # of any size: the values may lie 2^64 apart
        if span > (1 << 62) // size:
            _, codes = np.unique(codes, return_inverse=True)
            _, inner = np.unique(inner, return_inverse=True)
            codes, inner = codes.reshape(-1), inner.reshape(-1)
            span, size, least = rows, rows, 0
        inner = inner - least
        codes, span = codes * size + inner, span * size
    if not whole.all():
        index = np.flatnonzero(whole)
        repeats[index] = _later(codes[index])
        return repeats
    return _later(codes)


def _ascends(groups: Array, column: "pa.ChunkedArray", first: Array | None) -> bool:
    """Whether the rows are in the order of group and key, each once, as files often are written."""
    if column.null_count or not pa.types.is_integer(column.type):
        return False
    if first is None:
        fresh = groups[1:] != groups[:-1]
        if not (groups[1:] >= groups[:-1]).all():
            return False
        first = np.concatenate([[0], np.flatnonzero(fresh) + 1])
    start, last = 0, None
    for chunk in column.chunks:
        if not len(chunk):
            continue
        numbers = chunk.to_numpy()
        begin, low, high = np.searchsorted(first, [start, start + 1, start + len(numbers)])
        if last is not None and begin == low and int(numbers[0]) <= last:
            return False  # the group goes on
        greater = numbers[1:] > numbers[:-1]
        greater[first[low:high] - (start + 1)] = True
        if not greater.all():
            return False
        start += len(numbers)
        last = int(numbers[-1])
    return True


def _numbers(column: "pa.ChunkedArray") -> Array:
    """A number per distinct value."""
    if pa.types.is_integer(column.type):
        filled = pc.fill_null(column, 0) if column.null_count else column
        numbers: Array = filled.to_numpy().astype(np.int64, copy=False)
        return numbers
    coded = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.unify_dictionaries().combine_chunks()
    coded_numbers: Array = pc.fill_null(coded.indices, 0).to_numpy(zero_copy_only=False)
    return coded_numbers.astype(np.int64)


def _later(codes: Array) -> Array:
    """All but the first row of every code."""
    later = np.zeros(len(codes), dtype=np.bool_)
    ordered = np.sort(codes)
    if not (ordered[1:] == ordered[:-1]).any():
        return later
    order = np.argsort(codes, kind="stable")
    later[order[1:]] = codes[order[1:]] == codes[order[:-1]]
    return later
