"""Text as declared types, by the rules of Spark's casts: of CSV that is read without Spark.

Columns that are written as usual are converted by Arrow, where it and Spark agree; what is left,
each distinct text by its rule. Where a rule is not certain, nothing is guessed (NotPlain).
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.compute as pc

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
from ontoweir.mappings.model.column_types import epoch_us
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.convert_column import keep_years
from ontoweir.runtime.columnar.exact_decimals import fit_decimal
from ontoweir.runtime.columnar.frame import Array

_BLANK = "".join(map(chr, range(33))) + "\x7f"
"""What Spark's casts leave out at both ends."""
_JAVA_BLANK = "".join(map(chr, range(33)))
_WHOLE = re.compile(r"[+-]?[0-9]+")
_PLAIN_WHOLE = "^-?[0-9]{1,18}$"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?")
_TRUE = frozenset(("t", "true", "y", "yes", "1"))
_FALSE = frozenset(("f", "false", "n", "no", "0"))
_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_LONG_DAY = re.compile(
    r"[+-]?[0-9]{4,7}(?:-[0-9]{1,2}(?:-[0-9]{1,2}(?:[ T].*)?)?)?",
    re.DOTALL,
)
_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})[ T]([0-9]{1,2}):([0-9]{1,2})"
    r"(?::([0-9]{1,2})(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_ONLY_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_MINUTE = r":[0-9]{1,2}(?::[0-9]{1,2}(?:[^0-9].*)?)?"
_HOUR = rf"[0-9]{{1,2}}(?:{_MINUTE})?"
_PERHAPS_MOMENT = re.compile(
    rf"[+-]?[0-9]{{4,6}}(?:-[0-9]{{1,2}}(?:-[0-9]{{1,2}}(?:[ T](?:{_HOUR})?)?)?)?"
    rf"|T{_HOUR}|[0-9]{{1,2}}{_MINUTE}",
    re.DOTALL,
)
"""What Spark may take for a moment: all that can be one by the states of its parser; an hour is
one of the day on which it is read."""
_PLAIN_LENGTHS = frozenset((10, 16, 19, *range(21, 27)))
"""Of times without a zone: a day, with hours and minutes, with seconds, with fractions."""
_ZONED = r"^.{19}(\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])$"


_MOST_DIGITS = 38
"""Of a decimal."""
_MAX_EXPONENT = 999_999_999
"""Of a number, for Java's parser to take it for sure."""


class NotPlain(Exception):
    """Something that only Spark's reader is certain to read as Spark does."""


def convert_text(
    values: "pa.ChunkedArray", declared: ColumnType
) -> "tuple[pa.ChunkedArray, Array | None]":
    """Text as values of a declared type (arrow_type), and which are none (None: all are; those
    that are not are NULL).

    Raises:
        NotPlain: it is not certain what Spark would make of a text.
    """
    if isinstance(declared, StringType):
        return values, None
    converted, bad = _convert_at_once(values, declared), None
    if converted is None:
        converted, bad = _by_value(values, arrow_type(declared), _reader(declared))
    dated = isinstance(declared, DateType | TimestampType)
    return keep_years(converted, bad) if dated else (converted, bad)


def _convert_at_once(values: "pa.ChunkedArray", declared: ColumnType) -> "pa.ChunkedArray | None":
    """All values by Arrow (None: some are not written as usual)."""
    try:
        match declared:
            case IntType():
                return values.cast(pa.int64()) if _all_match(values, _PLAIN_WHOLE) else None
            case FloatType():
                made = values.cast(pa.float64())
                return made if all_finite(made) else None
            case DecimalType():
                return _to_decimal(values, declared)
            case DateType():
                return values.cast(pa.date32()) if _lengths(values) <= {10} else None
            case TimestampType():
                if _lengths(values) <= _PLAIN_LENGTHS:
                    with suppress(pa.ArrowInvalid):
                        moments = values.cast(pa.timestamp("us"))
                        return moments.cast(pa.int64()).cast(arrow_type(declared))
                return values.cast(arrow_type(declared)) if _all_match(values, _ZONED) else None
            case _:
                return None
    except pa.ArrowInvalid:
        return None


def _to_decimal(values: "pa.ChunkedArray", declared: DecimalType) -> "pa.ChunkedArray | None":
    """Decimals by Arrow, which does not see what overflows while it moves the point: so there is
    room for that (None: there may be none)."""
    digits = max(_lengths(values), default=0)
    powers = pc.match_substring(values, "e"), pc.match_substring(values, "E")
    if digits > _MOST_DIGITS or any(pc.any(power).as_py() for power in powers):
        return None
    if digits + declared.scale > _MOST_DIGITS:
        values = values.cast(pa.decimal256(_MOST_DIGITS, declared.scale))
    return values.cast(arrow_type(declared))


def all_finite(values: "pa.ChunkedArray") -> bool:
    """Whether no number is NaN or infinite."""
    return pc.all(pc.is_finite(values)).as_py() is not False


def _all_match(values: "pa.ChunkedArray", pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(values, pattern)).as_py() is not False


def _lengths(values: "pa.ChunkedArray") -> frozenset[int]:
    return frozenset(pc.unique(pc.binary_length(values)).drop_null().to_pylist())


def _by_value(
    values: "pa.ChunkedArray", target: pa.DataType, convert: Callable[[str], Any]
) -> "tuple[pa.ChunkedArray, Array | None]":
    """Each distinct text converted (None: it is not of the type)."""
    whole = values.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], pa.string())
    coded = whole.dictionary_encode()
    made = pa.array([convert(v) for v in coded.dictionary.to_pylist()], target)
    converted = made.take(coded.indices)
    bad = pc.and_(pc.is_valid(whole), pc.is_null(converted)).to_numpy(zero_copy_only=False)
    return pa.chunked_array([converted]), bad if bad.any() else None


def _reader(declared: ColumnType) -> Callable[[str], Any]:
    match declared:
        case IntType():
            return _read_whole
        case FloatType():
            return _read_double
        case DecimalType():
            return lambda text: _read_decimal(text, declared)
        case BooleanType():
            return _read_boolean
        case DateType():
            return _read_day
        case TimestampType():
            return _read_moment
        case StringType():
            return str
        case _:
            assert_never(declared)


def _read_whole(text: str) -> int | None:
    text = text.strip(_BLANK)
    if len(text) > 40 or not _WHOLE.fullmatch(text):
        if len(text) > 40 and _WHOLE.fullmatch(text):
            raise NotPlain
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None


def _read_double(text: str) -> float | None:
    text = text.strip(_JAVA_BLANK)
    if _DOUBLE.fullmatch(text):
        return float(text.rstrip("fFdD"))
    if "x" in text.lower():
        raise NotPlain  # Java reads numbers of base 16
    if text in ("+NaN", "-NaN") or text.lower() == "nan":
        return float("nan")
    if text.lower() in ("inf", "+inf", "infinity", "+infinity", "-inf", "-infinity"):
        return float(text)
    return None


def _read_decimal(text: str, declared: DecimalType) -> Decimal | None:
    text = text.strip(_JAVA_BLANK)
    if not _NUMBER.fullmatch(text):
        if not text.isascii() or len(text) > 200:
            raise NotPlain  # Java reads the digits of other scripts
        return None
    number = Decimal(text)
    if number.is_zero():  # whatever its exponent, as far as Java has such ones
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > _MAX_EXPONENT:
            raise NotPlain
        number = Decimal(0)
    return fit_decimal(number, declared)


def _read_boolean(text: str) -> bool | None:
    word = text.strip(_BLANK).lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _read_day(text: str) -> date | None:
    text = text.strip(_BLANK)
    match = _DAY.fullmatch(text)
    if match is None:
        if _LONG_DAY.fullmatch(text):
            raise NotPlain
        return None
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        return None


def _read_moment(text: str) -> int | None:
    """Microseconds."""
    text = text.strip(_BLANK)
    match = _MOMENT.fullmatch(text) or _ONLY_DAY.fullmatch(text)
    if match is None:
        if _PERHAPS_MOMENT.fullmatch(text):
            raise NotPlain
        return None
    whole = [*match.groups(), *([None] * 5)]
    year, month, day, hour, minute, second, fraction, zone = whole[:8]
    micros = int(((fraction or "") + "000000")[:6])
    try:
        moment = datetime(
            int(year or 0),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            micros,
            UTC,
        )
        return epoch_us(moment) - _offset_us(zone)
    except ValueError:
        return None


def _offset_us(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:])
    if hours > 18 or minutes > 59 or (hours == 18 and minutes):
        raise ValueError(zone)
    offset = timezone(timedelta(hours=hours, minutes=minutes)).utcoffset(None)
    sign = -1 if zone[0] == "-" else 1
    return sign * int(offset.total_seconds()) * 1_000_000
