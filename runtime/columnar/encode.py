"""Arrow columns to numbers: the values kernels compute with."""

from dataclasses import dataclass
from datetime import date
from typing import assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import DataError
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
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.runtime.columnar.convert_column import convert_column
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.pool.string_pool import StringPool

_DIGITS = 15
"""So many digits every double has."""
_EXACT_POWER = 22
"""Powers of ten up to this one are doubles."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A column of numbers, and which rows are usable (not NULL, not NaN, of the type)."""

    values: Array
    valid: Array

    def take(self, index: Array) -> "Encoded":
        """The rows at (or under a mask of) `index`."""
        return Encoded(self.values[index], self.valid[index])


def as_texts(column: "pa.Array | pa.ChunkedArray", name: str) -> "pa.Array | pa.ChunkedArray":
    """A column of strings, or a dictionary of strings.

    Raises:
        DataError: it is of another kind.
    """
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    try:
        return pc.cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _wrong_type(column, StringType(), name, error) from error


def by_codes(codes: Array) -> Encoded:
    """A column of strings by their codes, -1 where there is none."""
    return Encoded(codes, codes >= 0)


def flatten(column: "pa.ChunkedArray | pa.Array") -> "pa.Array":
    """A column in one piece."""
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column


def encode_column(
    column: "pa.ChunkedArray | pa.Array",
    kind: ColumnType,
    unit: int,
    pool: StringPool,
    name: str,
    *,
    distinct: bool = False,
) -> Encoded:
    """A column in units (numbers in 1/unit, days, microseconds, string codes). `distinct`: no
    string occurs twice, as is known.

    Raises:
        DataError: the data's type cannot hold the declared type's values, or a number overflows.
    """
    try:
        if isinstance(kind, StringType):
            return by_codes(pool.encode(as_texts(column, name), distinct=distinct))
        if isinstance(kind, IntType) and pa.types.is_signed_integer(column.type):
            return _in_units(_encode_pieces(column), unit, name)
        if isinstance(kind, DecimalType):
            whole = column
            if pa.types.is_decimal(column.type) and column.type.bit_width == 64:
                if column.type.scale == kind.scale:
                    return _encode_narrow(column, kind.scale, unit, name)
                whole = pc.cast(column, pa.decimal128(38, kind.scale))
            elif not pa.types.is_decimal128(column.type):
                whole = convert_column(pa.chunked_array([flatten(column)]), kind)[0]
            if whole.type.scale != kind.scale:
                whole = pc.cast(whole, pa.decimal128(38, kind.scale))
            return _encode_decimals(whole, kind.scale, unit, name)
        flat = flatten(column)
        match kind:
            case IntType():
                return _in_units(_plain(pc.cast(flat, pa.int64())), unit, name)
            case FloatType():
                values = pc.cast(flat, pa.float64()).to_numpy(zero_copy_only=False)
                return Encoded(scale_floats(values, unit), ~np.isnan(values))
            case BooleanType():
                return _plain(pc.cast(pc.cast(flat, pa.bool_()), pa.int8()))
            case DateType():
                return _plain(pc.cast(pc.cast(flat, pa.date32()), pa.int32()))
            case TimestampType():
                return _plain(pc.cast(pc.cast(flat, pa.timestamp("us")), pa.int64()))
            case _:
                assert_never(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _wrong_type(column, kind, name, error) from error


def _wrong_type(
    column: "pa.Array | pa.ChunkedArray", kind: ColumnType, name: str, error: pa.ArrowException
) -> DataError:
    return DataError(
        f"column {name} holds {column.type}, which is not {name_column_type(kind)}",
        why=str(error).splitlines()[0],
        fix="declare the type the data has, or correct the data",
    )


def _plain(flat: "pa.Array") -> Encoded:
    if flat.null_count == 0:
        whole: Array = flat.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        return Encoded(whole, np.ones(len(flat), dtype=np.bool_))
    valid = pc.is_valid(flat).to_numpy(zero_copy_only=False)
    return Encoded(pc.fill_null(flat, 0).to_numpy(zero_copy_only=False).astype(np.int64), valid)


def _encode_pieces(column: "pa.ChunkedArray | pa.Array") -> Encoded:
    """Signed whole numbers, in one pass over each piece: put together, widened, NULL as 0."""
    pieces = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if len(pieces) == 1 and not column.null_count:
        return _plain(pieces[0])
    values, valid = np.empty(len(column), np.int64), np.ones(len(column), np.bool_)
    start = 0
    for piece in pieces:
        part = slice(start, start + len(piece))
        start += len(piece)
        if not piece.null_count:
            values[part] = piece.to_numpy()
        elif piece.null_count == len(piece):
            values[part], valid[part] = 0, False
        else:
            there = pc.is_valid(piece).to_numpy(zero_copy_only=False)
            whole = np.frombuffer(piece.buffers()[1], np.dtype(str(piece.type)))
            whole = whole[piece.offset : piece.offset + len(piece)]
            np.multiply(whole, there, out=values[part])
            valid[part] = there
    return Encoded(values, valid)


def _in_units(encoded: Encoded, unit: int, name: str) -> Encoded:
    if unit == 1:
        return encoded
    limit = (1 << 61) // unit
    values = encoded.values  # of the least number there is no absolute value
    if len(values) and max(-int(values.min()), int(values.max())) > limit:
        raise DataError(
            f"column {name} holds whole numbers beyond {limit}",
            why="the query uses decimals, too, so all its numbers are counted in units of "
            f"1/{unit}, in 64 bits",
            fix="ask for them in a query without decimals, or declare fewer decimal places",
        )
    return Encoded(encoded.values * unit, encoded.valid)


def scale_floats(values: Array, unit: int) -> Array:
    """Doubles in units, where one is a whole number of units iff it is the double nearest to that
    decimal: 0.57 * 100 is 57, not 56.99999999999999, so that it equals the decimal 0.57."""
    if unit == 1:
        return values
    with np.errstate(over="ignore"):
        scaled = values * unit
    whole = np.rint(scaled)
    nearest = whole / unit
    apart = np.nextafter(whole, np.where(values < nearest, -np.inf, np.inf))
    scaled = np.where((scaled == whole) & np.isfinite(values), apart, scaled)
    return np.where(nearest == values, whole, scaled)


def shorten_floats(values: Array) -> Array:
    """Doubles with at most 15 digits, the nearest ones: where a value is within three neighbours of
    one that has as many, that one.

    >>> shorten_floats(np.array([0.30000000000000004, 1e-9, 123456789.123456789])).tolist()
    [0.3, 1e-09, 123456789.123457]
    """
    finite = np.isfinite(values) & (values != 0)
    size = np.abs(np.where(finite, values, 1.0))
    places = _DIGITS - 1 - np.floor(np.log10(size)).astype(np.int64)
    for _ in range(2):  # the logarithm of what is near a power of ten may be rounded beyond it
        shifted = _shift(size, places)
        places += (shifted < 10.0 ** (_DIGITS - 1)).astype(np.int64) - (shifted >= 10.0**_DIGITS)
    digits = np.rint(_shift(size, places))
    exact = np.abs(places) <= _EXACT_POWER  # digits and powers are exact, and one step rounds once
    power = 10.0 ** np.where(exact, np.abs(places), 0)
    short = np.where(places >= 0, digits / power, digits * power)
    far = np.flatnonzero(~exact)
    if len(far):  # read by Arrow, which rounds once
        parts = (digits[far].astype(np.int64), -places[far])
        whole, exponent = (pa.array(part).cast(pa.string()) for part in parts)
        texts = pc.binary_join_element_wise(whole, exponent, "e")
        short[far] = texts.cast(pa.float64()).to_numpy()
    return np.where(finite, np.copysign(short, values), values)


def _shift(size: Array, places: Array) -> Array:
    """Times a power of ten, which alone may be too great for a double."""
    half = places // 2
    shifted: Array = size * 10.0**half * 10.0 ** (places - half)
    return shifted


def unscale_floats(codes: Array, unit: int) -> Array:
    """The doubles that numbers in units stand for: of neighbours that `scale_floats` cannot
    distinguish, one with at most 15 digits if there is one."""
    numbers = codes.astype(np.float64)
    if unit == 1:
        return numbers
    nearest = numbers / unit
    short = shorten_floats(nearest)
    # the last one that has the code is taken, the best
    for other in (np.nextafter(nearest, -np.inf), np.nextafter(nearest, np.inf), nearest, short):
        right = scale_floats(other, unit) == numbers
        nearest = np.where(right, other, nearest)
    return nearest


def _encode_decimals(
    column: "pa.ChunkedArray | pa.Array", scale: int, unit: int, name: str
) -> Encoded:
    """Decimals of 128 bits that have this scale, in one pass over each piece; NULL as 0."""
    pieces = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    values, valid = np.empty(len(column), np.int64), np.ones(len(column), np.bool_)
    start, fits = 0, True
    for piece in pieces:
        part = slice(start, start + len(piece))
        start += len(piece)
        words = np.frombuffer(piece.buffers()[1] or b"", dtype="<i8").reshape(-1, 2)
        words = words[piece.offset : piece.offset + len(piece)]
        low, high = words[:, 0], words[:, 1]
        if piece.null_count:
            there = pc.is_valid(piece).to_numpy(zero_copy_only=False)
            low, high, valid[part] = low * there, high * there, there
        values[part] = low
        fits = fits and bool((high == values[part] >> 63).all())
    if not fits:
        raise _too_great_decimals(scale, unit, name)
    return _scale_decimals(Encoded(values, valid), scale, unit, name)


def _encode_narrow(
    column: "pa.ChunkedArray | pa.Array", scale: int, unit: int, name: str
) -> Encoded:
    """Decimals of 64 bits that have this scale; NULL as 0."""
    pieces = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    whole = pa.chunked_array([piece.view(pa.int64()) for piece in pieces], pa.int64())
    return _scale_decimals(_encode_pieces(whole), scale, unit, name)


def _scale_decimals(encoded: Encoded, scale: int, unit: int, name: str) -> Encoded:
    """Decimals in units of their last place, as units."""
    values, factor = encoded.values, unit // 10**scale
    limit = (1 << 61) // factor
    if len(values) and (int(values.min()) < -limit or int(values.max()) > limit):
        raise _too_great_decimals(scale, unit, name)
    return encoded if factor == 1 else Encoded(values * factor, encoded.valid)


def _too_great_decimals(scale: int, unit: int, name: str) -> DataError:
    return DataError(
        f"column {name} holds decimals beyond {(1 << 61) // (unit // 10**scale)} units of "
        f"10^-{scale}",
        why=f"all numbers of the query are counted in units of 1/{unit}, in 64 bits",
        fix="declare fewer decimal places, or correct the data",
    )


def days(text: str) -> int:
    """Days since 1970-01-01 of an ISO date."""
    return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()
