"""Timestamps of rows, in microseconds since 1970-01-01T00:00:00Z."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.column_types import epoch_us, parse_instant
from ontoweir.runtime.columnar.convert_column import FIRST_US, LAST_US
from ontoweir.runtime.columnar.frame import Array

_NONE = np.zeros(0, dtype=np.int64)


def decode_times(column: "pa.ChunkedArray", *, known: bool = False) -> tuple[Array, Array]:
    """Microseconds, and which rows have a timestamp.

    Timestamps without a zone, and dates, are UTC; whole numbers are microseconds already; text
    is ISO 8601, and what is not is not a timestamp.

    Args:
        column: the timestamps.
        known: every row has one, as was seen before.

    Raises:
        ValueError: the column's type holds no timestamps.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "us" and not column.null_count:
        numbers = [c.view(pa.int64()).to_numpy() for c in column.chunks]
        times = numbers[0] if len(numbers) == 1 else np.concatenate([*numbers, _NONE])
        return times, np.ones(len(times), dtype=np.bool_) if known else _in_years(times)
    if pa.types.is_timestamp(kind):
        micros = _timestamps(column)
    elif pa.types.is_date(kind):
        micros = column.cast(pa.timestamp("us"))
    elif pa.types.is_integer(kind):
        micros = column.cast(pa.int64())
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        micros = _texts(column)
    elif pa.types.is_string_view(kind):
        micros = _texts(column.cast(pa.string()))
    elif pa.types.is_null(kind):
        micros = column.cast(pa.int64())
    else:
        raise ValueError(f"a column of {kind} holds no timestamps")
    if micros.null_count:
        valid = pc.is_valid(micros).to_numpy()
    else:
        valid = np.ones(len(micros), dtype=np.bool_)
    whole = micros.cast(pa.int64()) if pa.types.is_timestamp(micros.type) else micros
    if micros.null_count:
        whole = pc.fill_null(whole, 0)
    times = whole.to_numpy().astype(np.int64, copy=False)
    return times, valid if known else valid & _in_years(times)


def _in_years(times: Array) -> Array:
    """Which lie in the years 1 to 9999; others are not timestamps."""
    if not len(times) or (int(times.min()) >= FIRST_US and int(times.max()) <= LAST_US):
        return np.ones(len(times), dtype=np.bool_)
    within: Array = (times >= FIRST_US) & (times <= LAST_US)
    return within


def _timestamps(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    zone = column.type.tz
    try:
        return column.cast(pa.timestamp("us", tz=zone))
    except pa.ArrowInvalid:  # what is finer than a microsecond, or too far, is no timestamp
        return _cast_some(column).cast(pa.timestamp("us", tz=zone))


def _cast_some(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Microseconds of those that have some, in 64 bits."""
    numbers = column.cast(pa.int64())
    if column.type.unit == "ns":
        whole = pc.divide(numbers, 1000)
        return pc.if_else(pc.equal(pc.multiply(whole, 1000), numbers), whole, None)
    scale = {"s": 1_000_000, "ms": 1000}[column.type.unit]
    most = (1 << 63) // scale - 1
    there = pc.and_(pc.less_equal(numbers, most), pc.greater_equal(numbers, -most))
    return pc.multiply(pc.if_else(there, numbers, None), scale)


def _texts(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Text by Arrow's parser, and by Python's where Arrow refuses."""
    for kind in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    return pa.chunked_array(
        [pa.array([_parse(t) for t in column.to_pylist()], pa.int64())], pa.int64()
    )


def _parse(text: str | None) -> int | None:
    try:
        return None if text is None else epoch_us(parse_instant(text))
    except (ValueError, OverflowError):
        return None


def show_time(micros: int) -> str:
    """A time as ISO 8601, UTC."""
    return str(np.datetime64(micros, "us")).removesuffix(".000000")
