"""What an expression is of a row, and times as constants are written."""

import operator
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isnan
from typing import Any

from ontoweir.checker.witness.evaluate_naively import add_steps
from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import (
    ColumnType,
    DateType,
    FloatType,
    IntType,
    Relation,
    Stream,
    TimestampType,
)
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    Value,
    fields_of,
    has_user_calls,
)

_EPOCH = datetime(1970, 1, 1)
_LAST = "9999-12-31 23:59:59.999999"
"""What is later than all that is written."""
_STEPS = 40
"""To compute a value takes as long as to look at so many partial matches."""


class UnknownAnswerError(Exception):
    """What the answers of a query are is not computed here."""


def compute(expression: Expression, row: Mapping[str, Any]) -> Any:
    """The value of an expression (None: NULL).

    Args:
        expression: over columns of the row.
        row: numbers may be exact fractions, times are texts.

    Raises:
        UnknownAnswerError: it has none, or calls a user's function, or Arrow is not installed.
        TooLongError: too much was looked at.
    """
    match expression:
        case Field(column=column):
            return row[column]
        case Value(value=value):
            return value
        case Call(function=function, arguments=arguments) if function in _PLAIN:
            return _compute_plain(function, [compute(a, row) for a in arguments])
        case Call(function=function, arguments=arguments) if function in _COMPARE:
            return _compare(function, [(compute(a, row), a.type) for a in arguments])
        case Call(function=function, arguments=arguments) if _is_whole(expression):
            return _add(function, [compute(a, row) for a in arguments])
        case Case(branches=branches, otherwise=otherwise):
            for condition, made in branches:
                if compute(condition, row) is True:
                    return compute(made, row)
            return compute(otherwise, row)
        case _:
            return _compute(expression, row)


def _compute_plain(function: Function, values: list[Any]) -> Any:
    match function:
        case Function.AND:
            return False if False in values else None if None in values else True
        case Function.OR:
            return True if True in values else None if None in values else False
        case Function.NOT:
            return None if values[0] is None else not values[0]
        case Function.IS_NULL:
            return values[0] is None
        case _:
            return next((v for v in values if v is not None), None)


_PLAIN = {Function.AND, Function.OR, Function.NOT, Function.IS_NULL, Function.COALESCE}
_COMPARE: Mapping[Function, Callable[[Any, Any], Any]] = {
    Function.EQUAL: operator.eq,
    Function.UNEQUAL: operator.ne,
    Function.LESS: operator.lt,
    Function.AT_MOST: operator.le,
    Function.GREATER: operator.gt,
    Function.AT_LEAST: operator.ge,
}
_ADD: Mapping[Function, Callable[[Any, Any], Any]] = {
    Function.ADD: operator.add,
    Function.SUBTRACT: operator.sub,
    Function.MULTIPLY: operator.mul,
}


def _compare(function: Function, sides: list[tuple[Any, ColumnType]]) -> bool | None:
    values = []
    for value, kind in sides:
        if value is None:
            return None
        if isinstance(value, float) and isnan(value):
            raise UnknownAnswerError
        time = isinstance(kind, TimestampType | DateType)
        values.append(datetime.fromisoformat(value) if time else value)
    try:
        return bool(_COMPARE[function](*values))
    except TypeError:
        raise UnknownAnswerError from None


def _is_whole(call: Call) -> bool:
    """Whether it adds, or multiplies, whole numbers."""
    kinds = call.type, *(a.type for a in call.arguments)
    return call.function in _ADD and all(isinstance(kind, IntType) for kind in kinds)


def _add(function: Function, values: list[Any]) -> int | None:
    if None in values:
        return None
    made = _ADD[function](*(int(v) for v in values))
    if not -(2**63) <= made < 2**63:
        raise UnknownAnswerError
    return int(made)


def _compute(expression: Expression, row: Mapping[str, Any]) -> Any:
    add_steps(0, _STEPS)
    try:
        from ontoweir.mappings.expressions.evaluate import evaluate  # brings Arrow
        from ontoweir.mappings.expressions.value_types import to_array, to_scalars
    except ModuleNotFoundError:
        raise UnknownAnswerError from None
    fields = fields_of(expression)
    if has_user_calls(expression) or not fields.keys() <= row.keys():
        raise UnknownAnswerError
    try:
        columns = {n: to_array([as_type(row[n], f.type)], f.type) for n, f in fields.items()}
        made = to_scalars(evaluate(expression, columns, 1), expression.type)
    except (DataError, ValueError, TypeError, OverflowError, ArithmeticError):
        raise UnknownAnswerError from None
    return made[0] if made else None


def as_type(value: Any, kind: ColumnType) -> Any:
    """An exact number as one of its type."""
    if not isinstance(value, Fraction):
        return value
    if isinstance(kind, FloatType):
        return float(value)
    if isinstance(kind, IntType) or value.denominator == 1:
        return int(value)
    return Decimal(value.numerator) / Decimal(value.denominator)


def write_time(time_us: int) -> str:
    """A time as constants are written; one that is too late as the last that can be."""
    try:
        moment = _EPOCH + timedelta(microseconds=time_us)
    except OverflowError:
        return _LAST
    return moment.isoformat(" ", timespec="microseconds")


def read_time(text: str) -> int:
    """A time that was written so, in µs since 1970."""
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)


def complete_row(table: Stream | Relation, row: dict[str, Any]) -> dict[str, Any]:
    """A row with its buckets of time, and what is computed of it; in place.

    Args:
        table: of the row.
        row: its values; of a stream its time too, in steps.

    Raises: as compute.
    """
    if isinstance(table, Relation):
        for column in table.columns:
            if column.expression is not None and column.name not in row:
                row[column.name] = compute(column.expression, row)
        return row
    at_us = row[table.timestamp] * table.step_us
    for column in table.columns:
        if column.bucket is not None:
            row[column.name] = write_time(column.bucket.of(at_us))
    written = {**row, table.timestamp: write_time(at_us)}
    for column in table.columns:
        if column.expression is not None and column.name not in row:
            written[column.name] = row[column.name] = compute(column.expression, written)
    return row
