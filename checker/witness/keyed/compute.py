"""What an expression is of a row, and times as constants are written."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ontoweir.checker.witness.evaluate_naively import add_steps
from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import ColumnType, FloatType, IntType
from ontoweir.mappings.model.expression import Expression, Field, Value, fields_of, has_user_calls

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
        UnknownAnswerError: it has none, or calls a user's function.
        TooLongError: too much was looked at.
    """
    if isinstance(expression, Field):
        return row[expression.column]
    if isinstance(expression, Value):
        return expression.value
    add_steps(0, _STEPS)
    from ontoweir.mappings.expressions.evaluate import evaluate  # brings Arrow, only used here
    from ontoweir.mappings.expressions.value_types import to_array, to_scalars

    fields = fields_of(expression)
    if has_user_calls(expression) or not fields.keys() <= row.keys():
        raise UnknownAnswerError
    try:
        columns = {n: to_array([_as_type(row[n], f.type)], f.type) for n, f in fields.items()}
        made = to_scalars(evaluate(expression, columns, 1), expression.type)
    except (DataError, ValueError, TypeError, OverflowError, ArithmeticError):
        raise UnknownAnswerError from None
    return made[0] if made else None


def _as_type(value: Any, kind: ColumnType) -> Any:
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
