"""Reads a comparison of SQL: column + constant against column, or against a constant."""

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from ontoweir.mappings.model.assertion import (
    CompareOp,
    SourceColumn,
    SourceCompare,
    SourceCondition,
    SourceConstant,
    SourceNotNull,
)
from ontoweir.mappings.model.catalog import IntType, Scalar
from ontoweir.mappings.model.column_types import (
    epoch_us,
    name_column_type,
    parse_constant,
    parse_instant,
    type_family,
)
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.mappings.model.round_steps import round_steps
from ontoweir.mappings.sql.read_literal import line_of, plain_number, read_literal, refuse_condition
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, SqlUnitsDiffer
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp

Conjunction: TypeAlias = tuple[SourceCondition, ...]
Alternatives: TypeAlias = tuple[Conjunction, ...]
"""A disjunction of conjunctions: () is false, ((),) is true."""

_FLIP: dict[CompareOp, CompareOp] = {
    "<": ">",
    "<=": ">=",
    "=": "=",
    ">=": "<=",
    ">": "<",
    "<>": "<>",
}
_WHOLE = re.compile("[+-]?[0-9]{1,18}")
_HOLDS: dict[CompareOp, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "<>": operator.ne,
}


def resolve_column(tree: "exp.Expr", scope: Scope) -> SourceColumn:
    """The column that is written.

    Raises:
        SqlRefusal: it is something else, or unknown.
    """
    from sqlglot import exp

    if isinstance(tree, exp.Paren):
        return resolve_column(tree.this, scope)
    if not isinstance(tree, exp.Column):
        raise refuse_condition(tree, show_sql(tree))
    return scope.resolve(tree.table or None, tree.name, line_of(tree))


class _Sum:
    """A sum: columns with sign, a number, microseconds, or one other constant."""

    __slots__ = ("constant", "minus", "number", "plus", "us")

    def __init__(self) -> None:
        self.plus: list[SourceColumn] = []
        self.minus: list[SourceColumn] = []
        self.number = Fraction(0)
        self.us = 0
        self.constant: Scalar | None = None


def _add(tree: "exp.Expr", scope: Scope, total: _Sum, sign: int) -> None:
    from sqlglot import exp

    while isinstance(tree, (exp.Add, exp.Sub)):  # a long sum is deep on its left side
        _add(tree.expression, scope, total, sign if isinstance(tree, exp.Add) else -sign)
        tree = tree.this
    if isinstance(tree, exp.Paren):
        _add(tree.this, scope, total, sign)
    elif isinstance(tree, exp.Column):
        (total.plus if sign > 0 else total.minus).append(resolve_column(tree, scope))
    elif isinstance(tree, exp.Interval):
        total.us += sign * _interval(tree)
    else:
        value = read_literal(tree)
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            total.number += sign * Fraction(value)
        elif value is not None and total.constant is None and sign > 0:
            total.constant = value
        elif value is not None and total.constant is None:
            raise refuse_condition(tree, f"subtracting {show_sql(tree)}")
        else:
            raise refuse_condition(tree, show_sql(tree))


def _interval(tree: "exp.Interval") -> int:
    amount = tree.this
    text = str(amount.this) if amount is not None else ""
    unit = tree.args.get("unit")
    sign = -1 if text.startswith("-") else 1
    text = re.sub(r"^[+-]\s*", "", text)
    duration = parse_duration(f"{text} {unit.name if unit is not None else ''}")
    if duration is None:
        raise refuse_condition(tree, show_sql(tree))
    return sign * duration


def read_comparison(tree: "exp.Binary", op: CompareOp, scope: Scope) -> Alternatives:
    """`left op right` as alternatives: one conjunction; none where it never holds.

    Raises:
        SqlRefusal: beyond columns, constants and column + constant, or types that do not compare.
    """
    left, right = _Sum(), _Sum()
    _add(tree.this, scope, left, 1)
    _add(tree.expression, scope, right, 1)
    plus, minus = left.plus + right.minus, right.plus + left.minus
    number, us = right.number - left.number, right.us - left.us
    if len(plus) > 1 or len(minus) > 1:
        raise refuse_condition(tree, show_sql(tree))
    if not plus and not minus:
        return ((),) if _holds(tree, op, left, right) else ()
    if not plus:
        if left.constant is not None and right.constant is not None:
            raise refuse_condition(tree, show_sql(tree))
        plus, minus, op = minus, [], _FLIP[op]
        number, us = -number, -us
    constants = [c for c in (left.constant, right.constant) if c is not None]
    if minus:
        if constants:
            raise refuse_condition(tree, show_sql(tree))
        if not us and _is_difference(left, right) and None not in map(scope.step_of, plus + minus):
            number, us = _of_seconds(number)
        return _compare_columns(tree, plus[0], op, minus[0], (number, us), scope)
    if len(constants) > 1 or (constants and number):
        raise refuse_condition(tree, show_sql(tree))
    value: Scalar = constants[0] if constants else plain_number(number)
    return _compare_constant(tree, plus[0], op, value, us, scope)


def _is_difference(left: _Sum, right: _Sum) -> bool:
    """Whether one side is a column less another, and the other one has none."""
    one, other = (right, left) if not left.plus + left.minus else (left, right)
    return len(one.plus) == len(one.minus) == 1 and not other.plus + other.minus


def _of_seconds(number: Fraction) -> tuple[Fraction, int]:
    """A number of seconds, as a difference of timestamps is one, as microseconds; what is less than
    one of them stays a number."""
    micros = number * 1_000_000
    return (Fraction(0), int(micros)) if micros.denominator == 1 else (number, 0)


def _holds(tree: "exp.Binary", op: CompareOp, left: _Sum, right: _Sum) -> bool:
    """Whether a comparison of constants holds: of numbers, durations, texts or truth values."""
    from sqlglot import exp

    a: Any = (left.number, left.us)
    b: Any = (right.number, right.us)
    if left.constant is not None or right.constant is not None:
        plain = all(
            isinstance(side, (exp.Literal, exp.Boolean))
            for side in (tree.this.unnest(), tree.expression.unnest())
        )
        a, b = left.constant, right.constant
        if not plain or type(a) is not type(b):
            raise refuse_condition(tree, show_sql(tree))
    elif (left.number or right.number) and (left.us or right.us):
        raise refuse_condition(tree, show_sql(tree))
    return bool(_HOLDS[op](a, b))


def _compare_columns(
    tree: "exp.Expr",
    left: SourceColumn,
    op: CompareOp,
    right: SourceColumn,
    offset: tuple[Fraction, int],
    scope: Scope,
) -> Alternatives:
    number, us = offset
    step, other = scope.step_of(left), scope.step_of(right)
    if step is not None or other is not None:
        if step is None or other is None:
            raise _no_timestamp(tree)
        if step != other:
            raise SqlUnitsDiffer(step, other, line_of(tree))
        if number:
            shown = f"INTERVAL '{plain_number(number)}' SECOND"
            what = f"{show_sql(tree)} (a time plus a number; of seconds, write {shown})"
            raise refuse_condition(tree, what)
        rounded = round_steps(op, us, step)
        if isinstance(rounded, bool):
            return ((SourceNotNull(left), SourceNotNull(right)),) if rounded else ()
        return ((SourceCompare(left, rounded[0], right, rounded[1], _written(tree)),),)
    kinds = scope.type_of(left), scope.type_of(right)
    if us and {type_family(kind) for kind in kinds} == {"date"}:
        raise refuse_condition(
            tree,
            f"{show_sql(tree)}, of days that are INTERVALs apart,",
            "compare where the days begin: date_trunc('day', ts), to which INTERVALs are added",
        )
    if type_family(kinds[0]) != type_family(kinds[1]) or us:
        raise _wrong_types(tree, name_column_type(kinds[0]), name_column_type(kinds[1]))
    if number and type_family(kinds[0]) != "number":
        raise refuse_condition(tree, show_sql(tree))
    return ((SourceCompare(left, op, right, plain_number(number), _written(tree)),),)


def _compare_constant(
    tree: "exp.Expr", left: SourceColumn, op: CompareOp, value: Scalar, us: int, scope: Scope
) -> Alternatives:
    if (step := scope.step_of(left)) is not None:
        try:
            instant = parse_instant(value) if isinstance(value, str) else None
        except ValueError:
            instant = None
        if instant is None:
            raise _no_timestamp(tree)
        rounded = round_steps(op, epoch_us(instant) + us, step)
        if isinstance(rounded, bool):
            return ((SourceNotNull(left),),) if rounded else ()
        return ((SourceCompare(left, rounded[0], SourceConstant(rounded[1]), 0, _written(tree)),),)
    kind = scope.type_of(left)
    if isinstance(kind, IntType) and isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)  # all of SQL read a text beside a whole number as one
    fits = {
        "number": isinstance(value, (int, Decimal)) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "string": isinstance(value, str),
        "date": isinstance(value, str),
        "timestamp": isinstance(value, str),
    }[type_family(kind)]
    constant = parse_constant(str(value), kind) if fits and not isinstance(value, bool) else None
    if fits and isinstance(value, bool):
        constant = value
        if op == "<>":
            op, constant = "=", not value
    if constant is None or us:
        raise _wrong_types(tree, name_column_type(kind), repr(value))
    return ((SourceCompare(left, op, SourceConstant(constant), 0, _written(tree)),),)


def _written(tree: "exp.Expr") -> int | None:
    """The line of a comparison: of what it was, before columns of subqueries were put into it."""
    line = tree.meta.get("line")
    return int(line) if line is not None else line_of(tree)


def _no_timestamp(tree: "exp.Expr") -> SqlRefusal:
    return SqlRefusal(
        f"{show_sql(tree)} compares a stream's timestamp with something else",
        why="a timestamp compares with timestamps, intervals added, and TIMESTAMP constants",
        fix="write e.g. a.ts <= b.ts + INTERVAL '5' MINUTE or a.ts >= TIMESTAMP '2014-08-01 00:00'",
        line=line_of(tree),
    )


def _wrong_types(tree: "exp.Expr", left: str, right: str) -> SqlRefusal:
    return SqlRefusal(
        f"{show_sql(tree)} compares {left} with {right}",
        why="both sides must have comparable types",
        fix="write a constant of the column's type, or declare the column's type correctly",
        line=line_of(tree),
    )
