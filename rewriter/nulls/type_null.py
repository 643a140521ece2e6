"""NULL of a type, as an expression of a row."""

from typing import TYPE_CHECKING, assert_never

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

if TYPE_CHECKING:
    from sqlglot import exp


def type_null(kind: ColumnType, column: "exp.Expr") -> "exp.Expr":
    """NULL of a type, computed of a column, which has no value that differs from itself."""
    from sqlglot import exp

    never = exp.NEQ(this=column.copy(), expression=column.copy())
    return exp.Case(ifs=[exp.If(this=never, true=sample(kind))])


def sample(kind: ColumnType) -> "exp.Expr":
    """A constant of a type."""
    from sqlglot import exp

    match kind:
        case IntType():
            return exp.Literal.number(0)
        case FloatType():
            return exp.cast(exp.Literal.number(0), "double")
        case DecimalType(precision=precision, scale=scale):
            return exp.cast(exp.Literal.number(0), f"decimal({precision}, {scale})")
        case StringType():
            return exp.Literal.string("")
        case BooleanType():
            return exp.true()
        case DateType():
            return exp.cast(exp.Literal.string("1970-01-01"), "date")
        case TimestampType():
            return exp.cast(exp.Literal.string("1970-01-01 00:00:00"), "timestamp")
        case _:
            assert_never(kind)
