"""Values as texts that follow the time of their rows, so that one text of a group tells its last
value, or its first."""

from typing import TYPE_CHECKING

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
from ontoweir.mappings.sql_expressions.read_sorted_text import FAR_US, TIME_DIGITS

if TYPE_CHECKING:
    from sqlglot import exp

_THERE, _NONE = "v", "n"
"""What follows the time: whether there is a value."""


def write_value(
    value: "exp.Expr", time: "exp.Expr", kind: ColumnType, *, late: bool, passes: bool
) -> "exp.Expr":
    """The value of the latest row of a group, or of the first, as an expression over MAX, or MIN,
    of texts: each has the time of its row, and then the value.

    Args:
        value: of a row.
        time: of the row; of one group no two rows have the same.
        kind: the value's type.
        late: whether it is the latest row's.
        passes: whether rows without a value are passed over; else the value may be NULL.
    """
    from sqlglot import exp

    def put(*parts: "exp.Expr") -> "exp.Expr":
        made = parts[0]
        for part in parts[1:]:
            made = exp.DPipe(this=made, expression=part)
        return exp.Paren(this=made)

    begins = _write_time(time)
    match kind:
        case StringType():
            text: exp.Expr = exp.Paren(this=value.copy())
        case _:
            text = exp.Anonymous(this="EXACT_TEXT", expressions=[value.copy()])
    if passes:
        text = put(begins, text)
    else:
        there = exp.Literal.string(_THERE)
        missing = exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null())
        none = put(begins.copy(), exp.Literal.string(_NONE))
        text = exp.Case(ifs=[exp.If(this=missing, true=none)], default=put(begins, there, text))
    best = exp.Max(this=text) if late else exp.Min(this=text)

    def rest(begin: int, *length: int) -> "exp.Expr":
        made = exp.Substring(this=best.copy(), start=exp.Literal.number(str(begin)))
        if length:
            made.set("length", exp.Literal.number(str(length[0])))
        return made

    told = _read(rest(TIME_DIGITS + 1 + (not passes)), kind)
    if not passes:
        here = exp.EQ(this=rest(TIME_DIGITS + 1, 1), expression=exp.Literal.string(_THERE))
        told = exp.Case(ifs=[exp.If(this=here, true=told)])
    return exp.Paren(this=told)


def _write_time(time: "exp.Expr") -> "exp.Expr":
    """A time as a text of TIME_DIGITS digits: of two the later one is the greater text."""
    from sqlglot import exp

    micros = exp.UnixMicros(this=time.copy())
    moved = exp.Paren(this=exp.Add(this=micros, expression=exp.Literal.number(str(FAR_US))))
    return exp.Cast(this=moved, to=exp.DataType.build("STRING", dialect="spark"))


def _read(text: "exp.Expr", kind: ColumnType) -> "exp.Expr":
    """What a text says, of a type."""
    from sqlglot import exp

    def cast(to: str) -> "exp.Expr":
        return exp.Cast(this=text, to=exp.DataType.build(to, dialect="spark"))

    match kind:
        case StringType():
            return text
        case IntType():
            return cast("BIGINT")
        case DecimalType(precision=precision, scale=scale):
            return cast(f"DECIMAL({precision},{scale})")
        case FloatType():
            return cast("DOUBLE")
        case BooleanType():
            return cast("BOOLEAN")
        case DateType():
            return cast("DATE")
        case TimestampType():
            return cast("TIMESTAMP")
