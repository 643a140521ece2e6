"""Arrow columns to numbers: the values kernels compute with."""

from collections.abc import Iterable
from dataclasses import dataclass, field
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
from ontoweir.runtime.columnar.convert_column import convert_column
from ontoweir.runtime.columnar.frame import Array


@dataclass(frozen=True, slots=True)
class Encoded:
    """A column of numbers, and which rows are usable (not NULL, not NaN, of the type)."""

    values: Array
    valid: Array

    def take(self, index: Array) -> "Encoded":
        """The rows at (or under a mask of) `index`."""
        return Encoded(self.values[index], self.valid[index])


@dataclass(slots=True)
class StringPool:
    """Codes of strings: those of the static data and the query for ever, others while in use."""

    texts: list[str] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)

    def code(self, text: str) -> int:
        """The code of a string, new or known."""
        known = self.codes.get(text)
        if known is None:
            known = self.codes[text] = len(self.texts)
            self.texts.append(text)
        return known

    def encode(self, column: "pa.Array[pa.StringScalar]") -> Encoded:
        """Codes of a column of strings (NULL: -1, not valid)."""
        whole = column.dictionary_encode()
        lookup = np.array([self.code(t) for t in whole.dictionary.to_pylist()], dtype=np.int64)
        indices = pc.fill_null(whole.indices, -1).to_numpy(zero_copy_only=False)
        if len(lookup) == 0:
            lookup = np.array([-1], dtype=np.int64)
        return Encoded(np.where(indices >= 0, lookup[indices], -1), indices >= 0)

    def keep_only(self, used: Iterable[int], permanent: int) -> dict[int, int]:
        """Forget codes that are neither permanent nor used; the new code of every kept one."""
        kept = [*range(permanent), *sorted({c for c in used if c >= permanent})]
        moved = {old: new for new, old in enumerate(kept)}
        self.texts = [self.texts[old] for old in kept]
        self.codes = {text: code for code, text in enumerate(self.texts)}
        return moved


def _flat(column: "pa.ChunkedArray | pa.Array") -> "pa.Array":
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column


def encode_column(
    column: "pa.ChunkedArray | pa.Array", kind: ColumnType, unit: int, pool: StringPool, name: str
) -> Encoded:
    """A column in units (numbers in 1/unit, days, microseconds, string codes).

    Raises:
        DataError: the data's type cannot hold the declared type's values, or a number overflows.
    """
    flat = _flat(column)
    try:
        match kind:
            case IntType():
                return _encode_int(flat, unit, name)
            case DecimalType(scale=scale):
                if not pa.types.is_decimal128(flat.type):
                    flat = _flat(convert_column(pa.chunked_array([flat]), kind)[0])
                return _encode_decimal(flat, scale, unit, name)
            case FloatType():
                values = pc.cast(flat, pa.float64()).to_numpy(zero_copy_only=False)
                return Encoded(scale_floats(values, unit), ~np.isnan(values))
            case StringType():
                return pool.encode(pc.cast(flat, pa.string()))
            case BooleanType():
                return _plain(pc.cast(pc.cast(flat, pa.bool_()), pa.int8()))
            case DateType():
                return _plain(pc.cast(pc.cast(flat, pa.date32()), pa.int32()))
            case TimestampType():
                return _plain(pc.cast(pc.cast(flat, pa.timestamp("us")), pa.int64()))
            case _:
                assert_never(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name} holds {flat.type}, which is not {type(kind).__name__}",
            why=str(error).splitlines()[0],
            fix="declare the type the data has, or correct the data",
        ) from error


def _plain(flat: "pa.Array") -> Encoded:
    if flat.null_count == 0:
        whole: Array = flat.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        return Encoded(whole, np.ones(len(flat), dtype=np.bool_))
    valid = pc.is_valid(flat).to_numpy(zero_copy_only=False)
    return Encoded(pc.fill_null(flat, 0).to_numpy(zero_copy_only=False).astype(np.int64), valid)


def _encode_int(flat: "pa.Array", unit: int, name: str) -> Encoded:
    plain = pa.types.is_signed_integer(flat.type)  # these numpy widens, in one pass with _plain
    encoded = _plain(flat if plain else pc.cast(flat, pa.int64()))
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


def unscale_floats(codes: Array, unit: int) -> Array:
    """The doubles that numbers in units stand for: of neighbours that `scale_floats` cannot
    distinguish, one with at most 15 digits if there is one."""
    numbers = codes.astype(np.float64)
    if unit == 1:
        return numbers
    nearest = numbers / unit
    short = np.array([float(f"{v:.15g}") for v in nearest.tolist()], dtype=np.float64)
    # the last one that has the code is taken, the best
    for other in (np.nextafter(nearest, -np.inf), np.nextafter(nearest, np.inf), nearest, short):
        right = scale_floats(other, unit) == numbers
        nearest = np.where(right, other, nearest)
    return nearest


def _encode_decimal(flat: "pa.Array", scale: int, unit: int, name: str) -> Encoded:
    factor = unit // 10**scale
    whole = pc.cast(flat, pa.decimal128(38, scale))
    valid = pc.is_valid(whole).to_numpy(zero_copy_only=False)
    words = np.frombuffer(whole.buffers()[1] or b"", dtype="<i8").reshape(-1, 2)
    words = words[whole.offset : whole.offset + len(whole)]
    low = np.where(valid, words[:, 0], 0)
    limit = (1 << 61) // factor
    fits = np.where(valid, words[:, 1], 0) == (low >> 63)
    if not bool((fits & (low >= -limit) & (low <= limit)).all()):
        raise DataError(
            f"column {name} holds decimals beyond {limit} units of 10^-{scale}",
            why=f"all numbers of the query are counted in units of 1/{unit}, in 64 bits",
            fix="declare fewer decimal places, or correct the data",
        )
    return Encoded(low * factor, valid)


def days(text: str) -> int:
    """Days since 1970-01-01 of an ISO date."""
    return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()
