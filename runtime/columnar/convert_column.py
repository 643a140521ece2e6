"""Arrow columns as their declared types: which types hold which, and what of a value is kept.

This is the one place that says so. A replay asks it for every file before a row is read, a live run
for every file that arrives, and what Spark reads is checked against the same table (read_source).
"""

from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.column_types import epoch_us, name_column_type, parse_instant
from ontoweir.runtime.columnar.exact_decimals import decode_decimals, fit_decimal
from ontoweir.runtime.columnar.frame import Array

_Test = Callable[[pa.DataType], bool]
_NEAR = 1 << 51
"""Of doubles up to so many units the nearest number of units is found by multiplying."""
_EXACT_POWER = 22
"""Up to this power of ten a double holds it exactly."""
_DAY = 86_400_000_000
FIRST_DATE = date.min.toordinal() - date(1970, 1, 1).toordinal()
LAST_DAY = date.max.toordinal() - date(1970, 1, 1).toordinal()
"""Dates and times lie in the years 1 to 9999, of which all can speak."""
FIRST_US, LAST_US = FIRST_DATE * _DAY, (LAST_DAY + 1) * _DAY - 1


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    )


_HELD: dict[type, tuple[_Test, ...]] = {
    IntType: (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, _is_text),
    DecimalType: (pa.types.is_decimal, pa.types.is_integer, pa.types.is_floating, _is_text),
    FloatType: (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal, _is_text),
    StringType: (
        _is_text,
        _is_bytes,
        pa.types.is_integer,
        pa.types.is_boolean,
        pa.types.is_date,
    ),
    BooleanType: (pa.types.is_boolean, pa.types.is_integer, _is_text),
    DateType: (pa.types.is_date, pa.types.is_timestamp, _is_text),
    TimestampType: (pa.types.is_timestamp, pa.types.is_date, _is_text),
}
"""What may hold values of a declared type, beside columns without any value. All other types, such
as times of day, durations and lists, are refused by name."""

_MICROS = pa.timestamp("us")
_TIMES: tuple[_Test, ...] = (
    pa.types.is_timestamp,
    pa.types.is_date,
    pa.types.is_integer,
    _is_text,
)
"""What may hold the timestamps of a stream: whole numbers are microseconds."""


def plain_type(there: pa.DataType) -> pa.DataType:
    """The type of a column's values: that of the dictionary where they are encoded by one."""
    return there.value_type if pa.types.is_dictionary(there) else there


def holds_type(there: pa.DataType, declared: ColumnType) -> bool:
    """Whether a column of an Arrow type can hold values of a declared type."""
    kind = plain_type(there)
    return pa.types.is_null(kind) or any(test(kind) for test in _HELD[type(declared)])


def holds_only(there: pa.DataType, declared: ColumnType) -> bool:
    """Whether a column of an Arrow type holds nothing but values of a declared type, and NULL."""
    match declared:
        case IntType():
            return bool(pa.types.is_signed_integer(there))
        case StringType():
            return bool(pa.types.is_string(there) or pa.types.is_large_string(there))
        case BooleanType():
            return bool(pa.types.is_boolean(there))
        case DecimalType() | FloatType() | DateType() | TimestampType():
            return False  # some values are out of range, or none
        case _:
            assert_never(declared)


def holds_times(there: pa.DataType) -> bool:
    """Whether a column of an Arrow type can hold the timestamps of a stream."""
    kind = plain_type(there)
    return pa.types.is_null(kind) or any(test(kind) for test in _TIMES)


def wrong_type(column: str, there: object, declared: ColumnType | None, place: str) -> DataError:
    """The error of a column whose type cannot hold its values (None: the stream's timestamps)."""
    wanted = "timestamps" if declared is None else f"{name_column_type(declared)} values"
    return DataError(
        f"the column {column} is of type {there}, which holds no {wanted}",
        why="what its values would be is not said by the type",
        fix="declare the type the data has, or cast the column where the data is written",
        source=Source(place),
    )


def convert_column(
    values: "pa.ChunkedArray", declared: ColumnType
) -> "tuple[pa.ChunkedArray, Array | None]":
    """Values of a declared type: signed whole numbers, decimal128 of the declared scale, doubles,
    strings, booleans, date32 or timestamps in microseconds; NULL stays NULL.

    A number is of a type if the type holds exactly it; a double, or float, is a decimal if it is
    the double, or float, nearest to it.

    Returns:
        The values, and which are not of the declared type (None: none; they are NULL then).
    """
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = values.type
    if pa.types.is_null(kind):
        return values, None
    match declared:
        case IntType():
            return _to_int(values)
        case DecimalType():
            return _to_decimal(values, declared)
        case FloatType():
            return _to_float(values)
        case StringType():
            return _to_text(values)
        case BooleanType():
            if pa.types.is_boolean(kind):
                return values, None
            if pa.types.is_integer(kind):
                return _keep(values, _among(values, 0, 1), pa.bool_())
            return _by_value(values, pa.bool_(), _read_boolean)
        case DateType():
            return keep_years(*_to_date(values))
        case TimestampType():
            moments = pa.types.is_timestamp(kind)
            cast = _to_micros(values) if moments else _cast(values, _MICROS, _read_moment)
            return keep_years(*cast)
        case _:
            assert_never(declared)


def keep_years(
    values: "pa.ChunkedArray", bad: Array | None = None
) -> "tuple[pa.ChunkedArray, Array | None]":
    """Dates (date32), times or whole numbers (microseconds) with those beyond the years 1 to 9999
    NULL, and which are bad, with those that were so before."""
    kind = values.type
    days = pa.types.is_date(kind)
    low, high = (FIRST_DATE, LAST_DAY) if days else (FIRST_US, LAST_US)
    numbers = values.cast(pa.int32()).cast(pa.int64()) if days else values.cast(pa.int64())
    ends = pc.min_max(numbers).as_py()
    if ends["min"] is None or (ends["min"] >= low and ends["max"] <= high):
        return values, bad
    held, wrong = _keep(numbers, _among(numbers, low, high), pa.int64())
    made = held.cast(pa.int32()).cast(kind) if days else held.cast(kind)
    if wrong is None or bad is None:
        return made, bad if wrong is None else wrong
    return made, bad | wrong


def _to_date(values: "pa.ChunkedArray") -> "tuple[pa.ChunkedArray, Array | None]":
    if pa.types.is_date32(values.type):
        return values, None
    if pa.types.is_timestamp(values.type):
        return _to_days(values)
    return _cast(values, pa.date32(), _read_day)


def _keep(
    values: "pa.ChunkedArray", good: Array, target: pa.DataType
) -> "tuple[pa.ChunkedArray, Array | None]":
    """The good values, cast; the others are NULL."""
    valid = pc.is_valid(values).to_numpy()
    bad = valid & ~good
    if not bad.any():
        return values.cast(target, safe=False), None
    held = pc.if_else(pa.chunked_array([pa.array(good)]), values, pa.scalar(None, values.type))
    return held.cast(target, safe=False), bad


def _among(values: "pa.ChunkedArray", low: int, high: int) -> Array:
    """Which whole numbers lie between two, both included."""
    kind = values.type
    good = np.ones(len(values), dtype=np.bool_)
    for limit, test in ((low, pc.greater_equal), (high, pc.less_equal)):
        try:
            scalar = pa.scalar(limit, kind)
        except (OverflowError, pa.ArrowInvalid):
            continue  # every value of the type is
        good &= pc.fill_null(test(values, scalar), False).to_numpy()
    return good


def _by_value(
    values: "pa.ChunkedArray", target: pa.DataType, convert: Callable[[Any], Any]
) -> "tuple[pa.ChunkedArray, Array | None]":
    """Each distinct value converted (None: it is not of the type)."""
    whole = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    coded = whole.dictionary_encode()
    made = pa.array([convert(v) for v in coded.dictionary.to_pylist()], target)
    converted = made.take(coded.indices)
    bad = pc.and_(pc.is_valid(whole), pc.is_null(converted)).to_numpy(zero_copy_only=False)
    return pa.chunked_array([converted]), bad if bad.any() else None


def _cast(
    values: "pa.ChunkedArray", target: pa.DataType, convert: Callable[[Any], Any]
) -> "tuple[pa.ChunkedArray, Array | None]":
    """Cast at once where nothing is lost, otherwise value by value."""
    try:
        return values.cast(target), None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _by_value(values, target, convert)


def _to_int(values: "pa.ChunkedArray") -> "tuple[pa.ChunkedArray, Array | None]":
    kind = values.type
    if pa.types.is_signed_integer(kind) or (pa.types.is_integer(kind) and kind.bit_width < 64):
        signed = pa.types.is_signed_integer(kind)
        return (values if signed else values.cast(pa.int64())), None
    if pa.types.is_integer(kind):
        return _keep(values, _among(values, 0, (1 << 63) - 1), pa.int64())
    if pa.types.is_floating(kind):
        numbers = pc.fill_null(values.cast(pa.float64()), 0.0).to_numpy()
        good = (np.rint(numbers) == numbers) & (numbers >= -(2.0**63)) & (numbers < 2.0**63)
        return _keep(values.cast(pa.float64()), good, pa.int64())
    return _cast(values, pa.int64(), _read_whole)


def _to_float(values: "pa.ChunkedArray") -> "tuple[pa.ChunkedArray, Array | None]":
    if _is_text(values.type):
        return _cast(values, pa.float64(), _read_float)
    return values.cast(pa.float64(), safe=False), None


def _to_decimal(
    values: "pa.ChunkedArray", declared: DecimalType
) -> "tuple[pa.ChunkedArray, Array | None]":
    kind, precision, scale = values.type, declared.precision, declared.scale
    target = pa.decimal128(precision, scale)
    if pa.types.is_floating(kind):
        return _floats_to_decimal(values, declared)
    if pa.types.is_decimal128(kind) and kind.scale == scale and kind.precision <= precision:
        return values, None

    if pa.types.is_integer(kind) and scale <= 18:
        most = 10 ** (precision - scale) - 1
        held, bad = _keep(values, _among(values, -most, most), pa.decimal128(38, scale))
        return held.cast(target), bad

    def read(value: Any) -> Decimal | None:
        if isinstance(value, str) and "_" in value:
            return None
        try:
            return fit_decimal(Decimal(value), declared)
        except InvalidOperation:
            return None

    if pa.types.is_decimal(kind):
        return _cast(values, target, read)
    return _by_value(values, target, read)


def _floats_to_decimal(
    values: "pa.ChunkedArray", declared: DecimalType
) -> "tuple[pa.ChunkedArray, Array | None]":
    """Floats as the decimals that they are nearest to, in their own precision."""
    precision, scale = declared.precision, declared.scale
    valid = pc.is_valid(values).to_numpy()
    numbers = pc.fill_null(values.cast(pa.float64()), 0.0).to_numpy()
    own = numbers.astype(f"f{values.type.bit_width // 8}")
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.rint(numbers * 10.0**scale)
        good = (whole / 10.0**scale).astype(own.dtype) == own
        good &= np.abs(whole) < 10.0**precision
        near = (np.abs(whole) < _NEAR) & (scale <= _EXACT_POWER)
    units = np.where(good & near, whole, 0).astype(np.int64)
    kind = pa.decimal128(precision, scale)
    made = pa.chunked_array([decode_decimals(units, kind, valid & good & near)])
    bad = valid & ~(good & near)
    # where multiplying is not exact a float is looked at by its digits
    far = np.flatnonzero(valid & ~near & np.isfinite(numbers))
    if len(far) and (precision > 15 or scale > _EXACT_POWER):
        cells = made.to_pylist()
        for i in far.tolist():
            shown = Decimal(np.format_float_positional(own[i], unique=True, trim="-"))
            if (exact := fit_decimal(shown, declared)) is not None:
                cells[i], bad[i] = exact, False
        made = pa.chunked_array([pa.array(cells, kind)])
    return made, bad if bad.any() else None


def _to_text(values: "pa.ChunkedArray") -> "tuple[pa.ChunkedArray, Array | None]":
    kind = values.type
    if not (_is_text(kind) or _is_bytes(kind)):
        return values.cast(pa.string()), None
    try:
        if _is_text(kind):
            values.validate(full=True)  # files may hold what is not UTF-8
        made = values if pa.types.is_string(kind) else values.cast(pa.string())
        return made, None
    except pa.ArrowInvalid:
        return _by_value(values.cast(pa.large_binary()), pa.string(), _read_utf8)


def _to_micros(values: "pa.ChunkedArray") -> "tuple[pa.ChunkedArray, Array | None]":
    """Timestamps in microseconds, those between two of them bad."""
    kind = values.type
    target = pa.timestamp("us", tz=kind.tz)
    if kind.unit == "us":
        return values, None
    try:
        return values.cast(target), None
    except pa.ArrowInvalid:
        numbers = values.cast(pa.int64())
        if kind.unit != "ns":  # seconds or milliseconds too great for microseconds
            most = (1 << 63) // {"s": 1_000_000, "ms": 1_000}[kind.unit] - 1
            return _keep(values, _among(numbers, -most, most), target)
        nanos = pc.fill_null(numbers, 0).to_numpy()
        return _keep(values, nanos % 1000 == 0, target)


def _to_days(values: "pa.ChunkedArray") -> "tuple[pa.ChunkedArray, Array | None]":
    """Timestamps at midnight (UTC) as days, all others bad."""
    moments, _ = _to_micros(values)
    micros = pc.fill_null(moments.cast(pa.int64()), 1).to_numpy()
    valid, days = pc.is_valid(values).to_numpy(), micros // _DAY
    bad = valid & (days * _DAY != micros)
    dates = pa.array(days.astype(np.int32), mask=~valid | bad).cast(pa.date32())
    return pa.chunked_array([dates]), bad if bad.any() else None


def _read_utf8(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _read_whole(value: Any) -> int | None:
    if isinstance(value, str) and "_" in value:
        return None
    try:
        number = Decimal(value)
        if not number.is_finite() or abs(number) > 1 << 64 or number != int(number):
            return None
    except InvalidOperation:
        return None
    return int(number) if -(1 << 63) <= number < 1 << 63 else None


def _read_float(value: str) -> float | None:
    try:
        return None if "_" in value else float(value)
    except ValueError:
        return None


def _read_boolean(value: str) -> bool | None:
    return {"true": True, "false": False}.get(value.strip().lower())


def _read_day(value: Any) -> date | None:
    try:
        return date.fromisoformat(value.strip())
    except (ValueError, AttributeError):
        return None


def _read_moment(value: Any) -> int | None:
    try:
        return epoch_us(parse_instant(value))
    except (ValueError, OverflowError):
        return None
