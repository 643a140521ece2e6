"""The rows with the greatest, or the least, value of a column for each group."""

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array, list_true
from ontoweir.runtime.nulls.find_there import fill_missing, find_there, read_buffer

_SAMPLE = 128
"""In so many rows for each group every group often has a good value."""
_DIGITS = 18
"""Decimals of so many digits fit into 64 bits."""


def find_extremes(
    column: "pa.ChunkedArray", codes: Array, size: int, *, greatest: bool
) -> Array | None:
    """Of each group the first row with its greatest (else least) value, and of all rows, those with
    the greatest and the least value: whether numbers fit is seen by these.

    Args:
        column: numbers; rows without one are none.
        codes: of each row its group, less than `size`.
        size: how many groups there are.
        greatest: which value is looked for.

    Returns:
        Rows, some maybe twice (None: they are other values, or one is NaN).
    """
    found = read_numbers(column)
    if found is None:
        return None
    values, there = found
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    ends = np.array([np.argmin(values), np.argmax(values)])
    whole = values.dtype.kind == "i"
    if not whole and np.isnan(values[ends[0]]):
        return None
    worst = np.iinfo(values.dtype).min if whole else -np.inf
    if not greatest:
        values = ~values if whole else -values
    if there is not None:
        ends = ends[there[ends]]
        values = fill_missing(values, there, worst)
    hit = _find_best(values, codes, size, worst)
    if there is not None:
        hit = hit[there[hit]]
    firsts = np.full(size, -1, dtype=np.int64)
    firsts[codes[hit[::-1]]] = hit[::-1]
    return np.concatenate([firsts[firsts >= 0], ends])


def _find_best(values: Array, codes: Array, size: int, worst: float) -> Array:
    """The rows with the greatest value of their group, in order; no value is less than `worst`."""
    best = np.full(size, worst, dtype=values.dtype)
    part = _SAMPLE * size
    np.maximum.at(best, codes[:part], values[:part])
    least = best.min() if part < len(values) else worst
    rows = None
    if least > worst:  # every group has one: whatever is less is no group's greatest
        rows = list_true(values >= least)
        values, codes = values[rows], codes[rows]
    np.maximum.at(best, codes, values)
    hit = np.flatnonzero(values == best[codes])
    return hit if rows is None else rows[hit]


def read_numbers(column: "pa.ChunkedArray") -> tuple[Array, Array | None] | None:
    """A column's numbers, decimals in units of their last place, NULL as 0, and which rows have one
    (None: all have). None: it is of another type."""
    kind = column.type
    wide = pa.types.is_decimal128(kind) and kind.precision <= _DIGITS
    if (pa.types.is_decimal(kind) and kind.bit_width == 64) or wide:
        dtype = np.dtype(np.int64)
    elif pa.types.is_signed_integer(kind) or kind == pa.float64():
        dtype = np.dtype(kind.to_pandas_dtype())
    else:
        return None
    if wide:  # the lower halves say all
        pieces = [read_buffer(piece, np.dtype("V16")).view(dtype)[::2] for piece in column.chunks]
    else:
        pieces = [read_buffer(piece, dtype) for piece in column.chunks]
    values = pieces[0] if len(pieces) == 1 else np.concatenate([np.zeros(0, dtype), *pieces])
    if not column.null_count:
        return values, None
    there = np.concatenate([find_there(piece) for piece in column.chunks])
    return fill_missing(values, there, 0), there
