"""Column types: their spelling in `ontoweir.toml`, their constants, their natural datatypes."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isfinite
from typing import Literal, TypeAlias, assert_never

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
    StringType,
    TimestampType,
)

Family: TypeAlias = Literal["number", "string", "boolean", "date", "timestamp"]
"""Types whose values compare with each other."""

XSD = "http://www.w3.org/2001/XMLSchema#"
KNOWN_TYPES = (
    "int",
    "integer",
    "bigint",
    "long",
    "decimal(p,s)",
    "float",
    "double",
    "string",
    "boolean",
    "date",
    "timestamp",
)
_SIMPLE: dict[str, ColumnType] = {
    "int": IntType(),
    "integer": IntType(),
    "bigint": IntType(),
    "long": IntType(),
    "smallint": IntType(),
    "tinyint": IntType(),
    "float": FloatType(),
    "double": FloatType(),
    "string": StringType(),
    "varchar": StringType(),
    "boolean": BooleanType(),
    "bool": BooleanType(),
    "date": DateType(),
    "timestamp": TimestampType(),
}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_NUMERIC = frozenset(
    XSD + n
    for n in [
        "integer",
        "decimal",
        "double",
        "float",
        "int",
        "long",
        "short",
        "byte",
        "nonNegativeInteger",
        "positiveInteger",
        "negativeInteger",
        "nonPositiveInteger",
        "unsignedInt",
        "unsignedLong",
        "unsignedShort",
        "unsignedByte",
    ]
)


_UTC = re.compile(r"(?<=\d{2})(Z|[+-]00:00)$")
_DAY_END = re.compile(r"T24:00:00(\.0+)?")


def parse_column_type(text: str) -> ColumnType | None:
    """The column type spelled `text`, or None when there is no such type."""
    name = text.strip().lower()
    if (simple := _SIMPLE.get(name)) is not None:
        return simple
    if name == "decimal":
        return DecimalType(10, 0)
    match = _DECIMAL.fullmatch(name)
    if match is None:
        return None
    precision, scale = int(match[1]), int(match[2] or 0)
    return DecimalType(precision, scale) if 0 < precision <= 38 and scale <= precision else None


def name_column_type(kind: ColumnType) -> str:
    """The spelling of a column type, for messages."""
    match kind:
        case IntType():
            return "int"
        case DecimalType(precision=p, scale=s):
            return f"decimal({p},{s})"
        case FloatType():
            return "double"
        case StringType():
            return "string"
        case BooleanType():
            return "boolean"
        case DateType():
            return "date"
        case TimestampType():
            return "timestamp"
        case _ as unreachable:
            assert_never(unreachable)


def type_family(kind: ColumnType) -> Family:
    """The family of a column type."""
    match kind:
        case IntType() | DecimalType() | FloatType():
            return "number"
        case StringType():
            return "string"
        case BooleanType():
            return "boolean"
        case DateType():
            return "date"
        case TimestampType():
            return "timestamp"
        case _ as unreachable:
            assert_never(unreachable)


def datatype_family(datatype: str | None) -> Family | None:
    """The family of a literal's datatype (None: plain); None for an unknown datatype."""
    if datatype is None or datatype == XSD + "string":
        return "string"
    if datatype in _NUMERIC:
        return "number"
    named: dict[str, Family] = {
        XSD + "boolean": "boolean",
        XSD + "date": "date",
        XSD + "dateTime": "timestamp",
        XSD + "dateTimeStamp": "timestamp",
    }
    return named.get(datatype)


def natural_datatype(kind: ColumnType) -> str | None:
    """The datatype of a literal made from a column: R2RML section 10.2, natural mapping."""
    match kind:
        case IntType():
            return XSD + "integer"
        case DecimalType():
            return XSD + "decimal"
        case FloatType():
            return XSD + "double"
        case StringType():
            return None
        case BooleanType():
            return XSD + "boolean"
        case DateType():
            return XSD + "date"
        case TimestampType():
            return XSD + "dateTime"
        case _ as unreachable:
            assert_never(unreachable)


def type_constant(text: str, datatype: str | None) -> ColumnType:
    """The type of a column that shows a constant: a number's or a boolean's, if its text is the
    canonical one, which the value gives again; else a text's.

    >>> type_constant("7", XSD + "integer"), type_constant("2.5", XSD + "decimal")
    (IntType(), DecimalType(precision=19, scale=1))
    >>> type_constant("007", XSD + "integer"), type_constant("7", None)
    (StringType(), StringType())
    """
    kinds: dict[str, ColumnType] = {XSD + "integer": IntType(), XSD + "boolean": BooleanType()}
    if datatype == XSD + "decimal" and "." in text:
        kinds[datatype] = DecimalType(max(19, len(text)), len(text.partition(".")[2]))
    kind = kinds.get(datatype or "", StringType())
    value = parse_constant(text, kind)
    if value is None or not is_value(value, kind):
        return StringType()
    written = str(value).lower() if isinstance(value, bool) else str(value)
    return kind if written == text else StringType()


def parse_constant(text: str, kind: ColumnType) -> Scalar | None:
    """The constant that a lexical form denotes in a column's type; None when it denotes none.

    An int column also takes a fraction (as a Decimal): comparing with it makes sense.
    """
    try:
        match type_family(kind):
            case "number":
                number = Decimal(text.strip())
                if not number.is_finite():
                    return None
                if isinstance(kind, FloatType):
                    return value if isfinite(value := float(number)) else None
                return int(number) if number == number.to_integral_value() else number
            case "string":
                return text
            case "boolean":
                return {"true": True, "1": True, "false": False, "0": False}.get(text.strip())
            case "date":
                return date.fromisoformat(_UTC.sub("", text.strip())).isoformat()
            case "timestamp":
                moment = parse_instant(text).replace(tzinfo=None)
                return moment.isoformat(" ", timespec="microseconds")
            case _ as unreachable:
                assert_never(unreachable)
    except (InvalidOperation, ValueError):
        return None


def is_value(number: Scalar, kind: ColumnType) -> bool:
    """Whether a column of a numeric type can hold a number; of another type, True."""
    match kind:
        case IntType():
            return isinstance(number, int) and -(1 << 63) <= number < 1 << 63
        case DecimalType(precision=precision, scale=scale):
            scaled = Fraction(Decimal(str(number))) * 10**scale
            return scaled.denominator == 1 and len(str(abs(scaled.numerator))) <= precision
        case _:
            return True


def parse_instant(text: str) -> datetime:
    """An ISO date or dateTime as a UTC datetime; without a zone it is UTC already.

    24:00:00 is the midnight at a day's end (XML Schema Part 2, section 3.2.7).

    Raises:
        ValueError: it is neither.
    """
    text = text.strip()
    ends_day = _DAY_END.search(text)
    if ends_day is not None:
        text = text[: ends_day.start()] + "T00:00:00" + text[ends_day.end() :]
    instant = datetime.fromisoformat(text) + timedelta(days=1 if ends_day else 0)
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def epoch_us(instant: datetime) -> int:
    """Microseconds since 1970-01-01T00:00:00Z, exactly."""
    delta = instant - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
