"""Rows that repeat a declared key."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.pool.dictionary_codes import spread
from ontoweir.runtime.pool.hash_texts import hash_texts
from ontoweir.runtime.pool.text_table import TEXT, take_rows

KeyColumn: TypeAlias = "pa.ChunkedArray | Array"
"""Values, or whole numbers that stand for them, of which -1 is NULL."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def find_repeated_keys(
    groups: Array, columns: Sequence[KeyColumn], first: Array | None = None
) -> Array:
    """Which rows have the key of an earlier row of their group; keys with a NULL never repeat.

    Texts are compared by their hashes first: only rows that have those of others are looked at.

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
    if any(map(_is_hashed, columns)):
        suspects = _find_alike(groups, columns)
        if len(suspects) < rows:
            if len(suspects):
                some = [take_key(column, suspects) for column in columns]
                repeats[suspects] = _compare(groups[suspects], some)
            return repeats
    return _compare(groups, columns)


def take_key(column: KeyColumn, index: Array) -> KeyColumn:
    """The rows at an ascending index."""
    return column[index] if isinstance(column, np.ndarray) else take_rows(column, index)


def _compare(groups: Array, columns: Sequence[KeyColumn]) -> Array:
    """As find_repeated_keys, of at least one row, by the values themselves."""
    rows = len(groups)
    repeats = np.zeros(rows, dtype=np.bool_)
    codes = groups - int(groups.min())
    span = int(codes.max()) + 1
    whole = np.ones(rows, dtype=np.bool_)
    for column in columns:
        if (there := _find_present(column)) is not None:
            whole &= there
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


def _find_present(column: KeyColumn) -> Array | None:
    """Where a column is not NULL (None: everywhere)."""
    if isinstance(column, np.ndarray):
        there: Array = column >= 0
        return None if there.all() else there
    return pc.is_valid(column).to_numpy() if column.null_count else None


def _is_hashed(column: KeyColumn) -> bool:
    """Whether a column has texts, without numbers that stand for them."""
    if isinstance(column, np.ndarray):
        return False
    if pa.types.is_dictionary(column.type):
        return bool(column.num_chunks > 1)
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _find_alike(groups: Array, columns: Sequence[KeyColumn]) -> Array:
    """The rows, by number, whose group and key have the same hash as those of another."""
    hashes = groups.view(np.uint64) * _MULTIPLIER
    index: Array | None = None
    whole = np.ones(len(groups), dtype=np.bool_)
    for column in columns:
        if (there := _find_present(column)) is not None:
            whole &= there
        hashes ^= _hash_texts(column) if _is_hashed(column) else _numbers(column).view(np.uint64)
        hashes *= _MULTIPLIER
        hashes ^= hashes >> np.uint64(32)
    if not whole.all():
        index = np.flatnonzero(whole)
        hashes = hashes[index]
    ordered = np.sort(hashes)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    alike = np.flatnonzero(np.isin(hashes, twice)) if len(twice) else np.zeros(0, dtype=np.int64)
    return alike if index is None else index[alike]


def _hash_texts(column: "pa.ChunkedArray") -> Array:
    """A number of every text, equal ones of equal texts."""
    if not pa.types.is_dictionary(column.type):
        return hash_texts(column.cast(TEXT).combine_chunks())
    pieces = []
    for chunk in column.chunks:
        hashes = hash_texts(chunk.dictionary.cast(TEXT))
        pieces.append(spread(hashes.view(np.int64), chunk.indices).view(np.uint64))
    return np.concatenate(pieces)


def _ascends(groups: Array, column: KeyColumn, first: Array | None) -> bool:
    """Whether the rows are in the order of group and key, each once, as files often are written."""
    if isinstance(column, np.ndarray) or column.null_count:
        return False
    if not pa.types.is_integer(column.type):
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


def _numbers(column: KeyColumn) -> Array:
    """A number per distinct value."""
    if isinstance(column, np.ndarray):
        return column
    if pa.types.is_integer(column.type):
        filled = pc.fill_null(column, 0) if column.null_count else column
        numbers: Array = filled.to_numpy().astype(np.int64, copy=False)
        return numbers
    coded = column.combine_chunks()
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
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
