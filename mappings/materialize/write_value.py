"""Writes values as the text that they have in templates: R2RML section 7.3 and 10.2."""

from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

Value: TypeAlias = int | Decimal | float | str | bool | date | datetime
"""A value of a column."""


def write_value(value: Value) -> str:
    """The canonical lexical form of its natural datatype, numbers without an exponent. Equal
    numbers of all types have one text.

    >>> [write_value(v) for v in (True, Decimal("1.50"), 30.0, datetime(2014, 8, 1, 7, 5))]
    ['true', '1.5', '30', '2014-08-01T07:05:00']
    """
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal():
            return write_decimal(value)
        case float():
            if value != value or value in (float("inf"), float("-inf")):
                return "NaN" if value != value else "INF" if value > 0 else "-INF"
            return write_decimal(Decimal(repr(value)))
        case datetime():
            text = value.replace(tzinfo=None).isoformat()
            return text.rstrip("0") if "." in text else text
        case date():
            return value.isoformat()
        case _:
            return str(value)


def write_decimal(number: Decimal) -> str:
    """Decimal text without trailing zeros or a bare point: 30, 1.5."""
    shown = format(number, "f")
    if "." in shown:
        shown = shown.rstrip("0").rstrip(".")
    return "0" if shown in ("-0", "") else shown
