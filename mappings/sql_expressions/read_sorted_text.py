"""Columns as texts of one length, of which the greater value has the greater text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.expressions import build
from ontoweir.mappings.expressions.may_be_null import is_nullable
from ontoweir.mappings.model.catalog import DateType, IntType, StringType, TimestampType
from ontoweir.mappings.model.expression import Call, Expression, Function, Value
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope

if TYPE_CHECKING:
    from sqlglot import exp

SORTED_TEXT = "SORTED_TEXT"
"""The function, of one column, by which a query is written that wants such texts."""
DIGITS = 21
"""The length of each of them."""
FAR_US, TIME_DIGITS = 3 * 10**17, 18
"""Added to µs, so that those of the years 1 to 9999 all have so many digits."""
_UNIT = 10**10  # whole numbers are as many of it, and what is left, both without a sign
_FAR = 2 * _UNIT  # the units of 64 bits are less than 10**9; these have eleven digits


def read_sorted_text(
    tree: exp.Anonymous,
    scope: Scope,
    read: Callable[[exp.Expr], Expression],
    refuse: Callable[..., Exception],
) -> Expression:
    """The text of a time, a date or a whole number.

    Args:
        tree: the function, of one column.
        scope: the columns.
        read: reads an expression.
        refuse: what is raised of an expression that is not read.

    Raises:
        SqlRefusal: the column is of another type, or may be NULL.
    """
    column = tree.expressions[0]
    place = scope.resolve(column.table or None, column.name, line_of(tree))
    if is_nullable(scope.tables[place.alias], place.column):
        raise refuse(
            column,
            why=f"a list is ordered by it; where it is NULL is not the same in every SQL: {column}",
            fix="leave such rows out before, WHERE it IS NOT NULL, in a subquery; or order by "
            "another column",
        )
    value = read(column)
    match value.type:
        case TimestampType():
            far = build.arithmetic(Function.ADD, build.epoch_us(value), Value(FAR_US, IntType()))
            return _join(Value("0" * (DIGITS - TIME_DIGITS), StringType()), _text(far))
        case DateType():
            return _join(_text(value), Value("0" * (DIGITS - 10), StringType()))
        case IntType():
            unit = Value(_UNIT, IntType())
            below = Call(Function.MODULO, (value, unit), IntType())
            rest = Call(Function.MODULO, (_add(below, unit), unit), IntType())
            units = build.whole_units(value, _UNIT, down=True)
            return _join(
                _text(_add(units, Value(_FAR, IntType()))),
                Call(Function.SUBSTRING, (_text(_add(rest, unit)), *_from(2)), StringType()),
            )
        case _:
            raise refuse(
                column,
                why="a list is ordered by it, which is no time, date or whole number",
                fix="order by the value itself, or by a column of such a type",
            )


def _add(left: Expression, right: Expression) -> Expression:
    return build.arithmetic(Function.ADD, left, right)


def _text(value: Expression) -> Expression:
    return Call(Function.TRY_CAST, (value,), StringType())


def _from(place: int) -> tuple[Expression, ...]:
    return (Value(place, IntType()),)


def _join(*texts: Expression) -> Expression:
    return Call(Function.CONCAT, texts, StringType())
