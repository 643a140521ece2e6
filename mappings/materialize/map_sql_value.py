"""The natural mapping of SQL values to RDF: https://www.w3.org/TR/r2rml/#natural-mapping."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from ontoweir.mappings.materialize.write_value import write_decimal

_KINDS = {
    **dict.fromkeys(["BIT", "BOOL", "BOOLEAN"], "boolean"),
    **dict.fromkeys(["DEC", "DECIMAL", "NUMERIC"], "decimal"),
    **dict.fromkeys(["DOUBLE", "FLOAT", "REAL"], "double"),
    **dict.fromkeys(["DATETIME", "TIMESTAMP"], "dateTime"),
    **dict.fromkeys(["CHAR", "CHARACTER", "NCHAR"], "char"),
    "DATE": "date",
    "TIME": "time",
}
_ZONE = r"(Z|[+-]\d\d:\d\d)?"
_DATE = r"-?\d{4,}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(\.\d+)?"
_INTEGERS = frozenset(
    [
        *["integer", "int", "long", "short", "byte", "unsignedLong", "unsignedInt"],
        *["unsignedShort", "unsignedByte", "nonNegativeInteger", "positiveInteger"],
        *["negativeInteger", "nonPositiveInteger"],
    ]
)
_BOOLEANS = {"1": "true", "t": "true", "true": "true", "0": "false", "f": "false"}
_BOOLEANS["false"] = "false"


@dataclass(frozen=True, slots=True)
class SqlValue:
    """A value that is not NULL, as text, with its natural datatype.

    `text` is the canonical lexical form; `kind` the local name of the XSD datatype, "" for a
    character string.
    """

    text: str
    kind: str


def map_sql_value(value: object, declared: str) -> SqlValue | None:
    """The natural mapping of a value that SQLite returns; None for NULL.

    SQLite keeps values of any type in any column. The column's declared type decides (R2RML
    section 10.2) where the value is one of that type; else the value's own type does. CHAR(n) is
    filled with blanks to n characters, as SQL defines it (W3C case D018); SQLite does not.

    Args:
        value: what SQLite returns: int, float, str, bytes, None.
        declared: the column's type as it is declared, "" for a computed column.

    >>> map_sql_value(30, "FLOAT"), map_sql_value(1, "BOOLEAN"), map_sql_value("a", "CHAR(2)")
    (SqlValue(text='3.0E1', kind='double'), SqlValue(text='true', kind='boolean'), \
SqlValue(text='a ', kind=''))
    """
    if value is None:
        return None
    if isinstance(value, bytes):
        return SqlValue(value.hex().upper(), "hexBinary")
    word = re.match(r"\s*(\w*)", declared)
    kind = _KINDS.get(word[1].upper() if word else "", "")
    if kind == "boolean" and (found := _BOOLEANS.get(str(value).lower())) is not None:
        return SqlValue(found, "boolean")
    if isinstance(value, str):
        return _map_text(value, kind, declared)
    if isinstance(value, int) and kind not in ("double", "decimal"):
        return SqlValue(str(value), "integer")
    if kind == "decimal" and isinstance(value, int | float) and abs(value) < float("inf"):
        return SqlValue(write_decimal(Decimal(repr(value))), "decimal")
    if isinstance(value, int | float):
        return SqlValue(_write_double(float(value)), "double")
    return SqlValue(str(value), "")


def _map_text(value: str, kind: str, declared: str) -> SqlValue:
    if kind == "char":
        size = re.search(r"\(\s*(\d+)\s*\)", declared)
        return SqlValue(value.ljust(int(size[1]) if size else 1), "")
    patterns = {"date": _DATE, "time": _CLOCK, "dateTime": f"{_DATE}T{_CLOCK}"}
    joined = value.replace(" ", "T", 1) if kind == "dateTime" else value
    if kind in patterns and re.fullmatch(patterns[kind] + _ZONE, joined):
        return SqlValue(joined, kind)
    return SqlValue(value, "")


def write_plainly(value: SqlValue) -> str:
    """A value as text in a template or a string: numbers without an exponent."""
    if value.kind != "double":
        return value.text
    number = float(value.text)
    if number != number or abs(number) == float("inf"):
        return value.text
    return write_decimal(Decimal(repr(number)))


def fit_datatype(value: SqlValue, datatype: str) -> str | None:
    """The lexical form of a value under another XSD datatype; None when it has none.

    Numbers are written in the form of that datatype. An XSD datatype that is not known here
    takes any text.

    Args:
        value: the value.
        datatype: the local name of an XSD datatype.

    >>> fit_datatype(SqlValue("3.0E1", "double"), "integer")
    '30'
    >>> fit_datatype(SqlValue("September, 2010", ""), "date")
    """
    text = value.text.strip()
    if datatype == "string":
        return write_plainly(value)
    if value.kind == datatype:
        return value.text
    if datatype in _INTEGERS or datatype in ("decimal", "double", "float"):
        if text in ("INF", "-INF", "NaN"):
            return text if datatype in ("double", "float") else None
        try:
            number = Decimal(text)
        except InvalidOperation:
            return None
        if not number.is_finite():
            return None
        if datatype == "decimal":
            return write_decimal(number)
        if datatype in ("double", "float"):
            return _write_double(float(number)) if value.kind else text
        return str(int(number)) if number == number.to_integral_value() else None
    if datatype == "boolean":
        return _BOOLEANS.get(text.lower())
    if datatype == "dateTime" and value.kind == "date":
        return f"{text}T00:00:00"
    checks: dict[str, Callable[[str], object]] = {
        "date": re.compile(_DATE + _ZONE).fullmatch,
        "time": re.compile(_CLOCK + _ZONE).fullmatch,
        "dateTime": re.compile(f"{_DATE}T{_CLOCK}{_ZONE}").fullmatch,
        "hexBinary": re.compile(r"([0-9a-fA-F]{2})*").fullmatch,
    }
    if datatype == "dateTime":
        text = text.replace(" ", "T", 1)
    if datatype in checks:
        return text if checks[datatype](text) else None
    return write_plainly(value)


def _write_double(number: float) -> str:
    """The canonical form of xsd:double: 8.025E1."""
    if number != number:
        return "NaN"
    if abs(number) == float("inf"):
        return "INF" if number > 0 else "-INF"
    if number == 0:
        return "-0.0E0" if str(number).startswith("-") else "0.0E0"
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    assert isinstance(exponent, int)
    mantissa = "".join(map(str, digits)).rstrip("0")
    power = exponent + len(digits) - 1
    return f"{'-' if sign else ''}{mantissa[0]}.{mantissa[1:] or '0'}E{power}"
