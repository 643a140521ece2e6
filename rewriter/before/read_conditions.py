"""Conditions on a row as an expression of its columns."""

from collections.abc import Sequence
from decimal import Decimal

from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
    Stream,
)
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    IsNull,
    NotNull,
    OneOf,
)


class NoMeetingError(Exception):
    """A solution does not meet its earlier row by its key."""


def read_conditions(conditions: Sequence[Condition], stream: Stream) -> Expression | None:
    """What is true of a row of a stream where all of the conditions hold (None: there is none).

    Raises:
        NoMeetingError: one compares with a constant of another kind.
    """
    made = None
    for one in (_read_condition(c, stream) for c in conditions):
        made = one if made is None else Call(Function.AND, (made, one), BooleanType())
    return made


def _read_condition(condition: Condition, stream: Stream) -> Expression:
    """A condition on a row as an expression of its columns.

    Raises:
        NoMeetingError: it compares with a constant of another kind.
    """
    match condition:
        case NotNull(attribute=attribute):
            return _call(Function.NOT, build.is_null(_read_column(attribute, stream)))
        case IsNull(attribute=attribute):
            return build.is_null(_read_column(attribute, stream))
        case OneOf(attribute=attribute, values=values):
            column = _read_column(attribute, stream)
            parts = [_compare(Function.EQUAL, column, _constant(v, column.type)) for v in values]
            made = parts[0]
            for part in parts[1:]:
                made = Call(Function.OR, (made, part), BooleanType())
            return made
        case Compare(left=left, op=op, right=right, offset=0):
            column = _read_column(left, stream)
            other = (
                _constant(right.value, column.type)
                if isinstance(right, Constant)
                else _read_column(right, stream)
            )
            return _compare(Function(op), column, other)
        case _:
            raise NoMeetingError


def _call(function: Function, *arguments: Expression) -> Expression:
    return Call(function, arguments, BooleanType())


def _compare(function: Function, left: Expression, right: Expression) -> Expression:
    try:
        return build.compare(function, left, right)
    except build.TypeClash:
        raise NoMeetingError from None


def _read_column(attribute: Attribute, stream: Stream) -> Expression:
    column = stream.column(attribute.column)
    if column is None or column.bucket is not None:
        raise NoMeetingError
    return Field(column.name, column.type) if column.expression is None else column.expression


def _constant(value: Scalar, kind: ColumnType) -> Value:
    """A constant that a column is compared with, which has its type or is a number."""
    match value:
        case bool():
            return Value(value, BooleanType())
        case int():
            return Value(value, IntType())
        case Decimal():
            exponent = value.as_tuple().exponent
            scale = max(0, -exponent) if isinstance(exponent, int) else 0
            digits = max(len(value.as_tuple().digits), scale + 1)
            return Value(value, DecimalType(max(19, digits), scale))
        case float():
            return Value(value, FloatType())
        case str():
            return Value(value, kind)
