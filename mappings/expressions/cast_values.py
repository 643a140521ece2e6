"""Casts: what a value is in another type, exactly, or NULL."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.expressions.value_types import value_type
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

_WIDEST = 76
"""So many digits have Arrow's widest decimals."""
_INTEGER = r"^ *[+-]?[0-9]+ *$"
_DECIMAL = r"^ *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+) *$"
_PLACES = r"^[^.]*([.][0-9]{0,37})?$"
"""So many places have texts that are read as decimals, with up to 38 digits before the point."""
_DOUBLE = r"^ *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)? *$"
_DAY = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_DATE = f"^ *{_DAY} *$"
_TIME = rf"^ *{_DAY}([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{{1,6}})?)?Z?)? *$"


def cast_values(
    values: "pa.Array", given: ColumnType, wanted: ColumnType, *, trying: bool
) -> "pa.Array":
    """The values in another type.

    Args:
        values: of the type `given`.
        given: their type.
        wanted: the type to be.
        trying: what the type does not hold is NULL.

    Raises:
        pyarrow.ArrowInvalid: a type does not hold a value (unless `trying`).
    """
    kind = value_type(wanted)
    if given == wanted:
        return values
    match given, wanted:
        case StringType(), _:
            return _read(values, wanted)
        case BooleanType(), StringType():
            return pc.if_else(values, pa.scalar("true"), pa.scalar("false"))
        case BooleanType(), _:
            return values.cast(pa.int8()).cast(pa.int64()).cast(kind)
        case DecimalType(), FloatType():
            return values.cast(pa.string()).cast(kind)  # correctly rounded
        case DecimalType(), IntType():
            return _hold(values.cast(pa.decimal128(38, 0)), -(2**63), 2**63 - 1, trying).cast(kind)
        case FloatType(), IntType():
            return _hold_float(values, trying).cast(kind)
        case IntType(), DecimalType():
            return _fit(values.cast(pa.decimal128(19, 0)), wanted, trying)
        case DecimalType(), DecimalType():
            return _fit(values, wanted, trying)
        case TimestampType(), DateType():
            return pc.floor_temporal(values, unit="day").cast(kind)
        case _:
            return values.cast(kind)


def _nulled(values: "pa.Array", good: "pa.Array") -> "pa.Array":
    return pc.if_else(pc.fill_null(good, fill_value=False), values, pa.scalar(None, values.type))


def _hold(values: "pa.Array", least: int, most: int, trying: bool) -> "pa.Array":
    if not trying:
        return values
    low, high = (pa.scalar(n, pa.decimal128(38, 0)) for n in (least, most))
    return _nulled(values, pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high)))


def _hold_float(values: "pa.Array", trying: bool) -> "pa.Array":
    if not trying:
        return values
    good = pc.and_(pc.greater_equal(values, -(2.0**63)), pc.less(values, 2.0**63))
    return _nulled(values, good)


def _fit(values: "pa.Array", kind: DecimalType, trying: bool) -> "pa.Array":
    """Decimals in a type; where it has fewer places they are rounded, halves away from 0."""
    given = values.type
    if given.scale > kind.scale:
        roomy = values.cast(pa.decimal256(given.precision + 1, given.scale))
        values = pc.round(roomy, kind.scale, "half_towards_infinity")
    wide = pa.decimal256(_WIDEST, kind.scale)
    values = values.cast(wide)
    if trying:
        most = pa.scalar(Decimal(10) ** (kind.precision - kind.scale), wide)
        values = _nulled(values, pc.less(pc.abs(values), most))
    return values.cast(value_type(kind))


def _read(values: "pa.Array", wanted: ColumnType) -> "pa.Array":
    """Texts as values: decimal notation and ISO 8601; anything else is NULL."""
    kind = value_type(wanted)
    trimmed = pc.utf8_trim(values, " ")
    match wanted:
        case IntType():
            good = _nulled(trimmed, pc.match_substring_regex(values, _INTEGER))
            digits = pc.replace_substring_regex(good, r"^([+-]?)0*([0-9])", r"\1\2")
            digits = pc.replace_substring_regex(digits, r"^[+]", "")
            short = _nulled(digits, pc.less_equal(pc.utf8_length(digits), 20))
            return _hold(short.cast(pa.decimal128(38, 0)), -(2**63), 2**63 - 1, True).cast(kind)
        case DecimalType():
            good = _nulled(trimmed, pc.match_substring_regex(values, _DECIMAL))
            digits = pc.utf8_ltrim(pc.replace_substring_regex(good, "[^0-9]", ""), "0")
            few = pc.and_(
                pc.less_equal(pc.utf8_length(digits), 38), pc.match_substring_regex(good, _PLACES)
            )
            short = _nulled(good, pc.and_(few, pc.less_equal(pc.utf8_length(good), 41)))
            return _fit(short.cast(pa.decimal256(75, 37)), wanted, True)
        case FloatType():
            good = _nulled(trimmed, pc.match_substring_regex(values, _DOUBLE))
            return pc.replace_substring_regex(good, r"^[+]", "").cast(kind)
        case BooleanType():
            folded = pc.utf8_lower(trimmed)
            made = pc.equal(folded, "true")
            return pc.if_else(
                pc.or_(made, pc.equal(folded, "false")), made, pa.scalar(None, pa.bool_())
            )
        case DateType():
            good = _nulled(trimmed, pc.match_substring_regex(values, _DATE))
            return _real_days(good).cast(kind)
        case TimestampType():
            good = _nulled(trimmed, pc.match_substring_regex(values, _TIME))
            good = _nulled(good, pc.is_valid(_real_days(pc.utf8_slice_codeunits(good, 0, 10))))
            return pc.replace_substring(good, "Z", "").cast(kind)
        case StringType():
            return values


def _real_days(days: "pa.Array") -> "pa.Array":
    """Days that are in the calendar: not 30 February, and no year 0."""
    month = pc.utf8_slice_codeunits(days, 5, 7)
    day = pc.utf8_slice_codeunits(days, 8, 10)
    year = pc.utf8_slice_codeunits(days, 0, 4)
    number = year.cast(pa.int64())
    leap = pc.and_(
        pc.equal(_rest(number, 4), 0),
        pc.or_(pc.not_equal(_rest(number, 100), 0), pc.equal(_rest(number, 400), 0)),
    )
    longest = pc.if_else(
        pc.equal(month, "02"),
        pc.if_else(leap, pa.scalar("29"), pa.scalar("28")),
        pc.if_else(
            pc.is_in(month, pa.array(["04", "06", "09", "11"])), pa.scalar("30"), pa.scalar("31")
        ),
    )
    return _nulled(days, pc.and_(pc.less_equal(day, longest), pc.greater(number, 0)))


def _rest(numbers: "pa.Array", by: int) -> "pa.Array":
    return pc.subtract(numbers, pc.multiply(pc.divide(numbers, by), by))
