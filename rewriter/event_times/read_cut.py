"""Columns that are times cut down to units."""

from ontoweir.mappings.model.catalog import Column, DateType, TimestampType
from ontoweir.mappings.model.expression import Call, Field, Function, Value

_DAY_US = 86_400_000_000
WIDTHS_US = {
    "second": (1_000_000, 1_000_000),
    "minute": (60_000_000, 60_000_000),
    "hour": (3_600_000_000, 3_600_000_000),
    "day": (_DAY_US, _DAY_US),
    "week": (7 * _DAY_US, 7 * _DAY_US),
    "month": (28 * _DAY_US, 31 * _DAY_US),
    "quarter": (90 * _DAY_US, 92 * _DAY_US),
    "year": (365 * _DAY_US, 366 * _DAY_US),
}
"""The units that times are cut down to, and how long they are, at least and at most."""


def read_cut(column: Column) -> tuple[str, int, int] | None:
    """The time that a column is, cut down to a unit, and how long one is, at least and at most, in
    µs (None: it is none of these)."""
    match column.expression:
        case Call(
            function=Function.TRUNCATE,
            arguments=(Value(value=str() as unit), Field(column=of)),
        ):
            return (of, *WIDTHS_US[unit])
        case Call(
            function=Function.BIN,
            arguments=(Field(column=of), Value(value=int() as width), _),
        ):
            return of, width, width
        case Call(
            function=Function.CAST | Function.TRY_CAST,
            arguments=(Field(column=of, type=TimestampType()),),
            type=DateType(),
        ):
            return (of, *WIDTHS_US["day"])
        case _:
            return None
