"""The whole numbers that an expression of a double rounds to."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite

from ontoweir.mappings.expressions.domains.evaluate_all import LARGEST, Finite, evaluate_all
from ontoweir.mappings.model.catalog import Column, DecimalType, FloatType, IntType, Scalar
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

Ends = Callable[[str], "tuple[Fraction | None, Fraction | None] | None"]
"""The least and the greatest value of a column (None: not known)."""
_FAR = 1 << 62
"""Ends that are further away from 0 are not looked at."""
_ROUND = {Function.FLOOR, Function.CEIL, Function.ROUND, Function.ROUND_UP}


def list_whole(expression: Expression, ends: Ends) -> Finite | None:
    """All values of an expression that reads columns inside of FLOOR, CEIL and ROUND to a whole
    number alone: of a double that is a column between two ends, divided by, multiplied with, added
    to or subtracted from constants (None: it is none, or has too many).

    Each of these rounds so that a greater number never gives a lesser one, or never a greater one:
    all values lie between those of the ends.

    Args:
        expression: of one row.
        ends: of the columns.
    """
    if has_user_calls(expression):
        return None
    columns: dict[str, Column] = {}

    def put(inner: Expression) -> Expression | None:
        """With columns in the place of what is rounded (None: a column is read otherwise)."""
        match inner:
            case Call(function=function, arguments=(value, *places), type=FloatType()) if (
                function in _ROUND and all(p == Value(0, p.type) for p in places)
            ):
                values = _list_between(value, ends)
                if values is None:
                    return None
                name = f"whole {len(columns)}"
                same = next((c.name for c in columns.values() if c.enum == values), name)
                columns.setdefault(same, Column(same, inner.type, enum=values))
                return replace(inner, arguments=(Field(same, inner.type), *places))
            case Value():
                return inner
            case Call(arguments=arguments):
                made = [put(a) for a in arguments]
                if any(m is None for m in made):
                    return None
                return replace(inner, arguments=tuple(m for m in made if m is not None))
            case Case(branches=branches, otherwise=otherwise):
                parts = [put(e) for branch in branches for e in branch]
                last = put(otherwise)
                if last is None or any(p is None for p in parts):
                    return None
                known = [p for p in parts if p is not None]
                pairs = tuple(zip(known[::2], known[1::2], strict=True))
                return replace(inner, branches=pairs, otherwise=last)
            case _:
                return None

    made = put(expression)
    return None if made is None or not columns else evaluate_all(made, columns)


def _list_between(value: Expression, ends: Ends) -> tuple[Scalar, ...] | None:
    """The whole numbers near the values of a double."""
    fields = fields_of(value)
    if len(fields) != 1 or not _is_monotone(value):
        return None
    ((name, field),) = fields.items()
    known = ends(name)
    if known is None or known[0] is None or known[1] is None:
        return None
    made = _evaluate(value, field, (known[0], known[1]))
    if made is None:
        return None
    least, most = floor(min(made)), ceil(max(made))
    if most - least >= LARGEST:
        return None
    return tuple(float(n) for n in range(least, most + 1))


def _is_monotone(value: Expression) -> bool:
    """Whether it never falls, or never rises, as its one column rises."""
    match value:
        case Field(type=IntType() | DecimalType() | FloatType()):
            return True
        case Call(function=Function.CAST, arguments=(inner,)):
            return isinstance(value.type, FloatType | DecimalType) and _is_monotone(inner)
        case Call(function=Function.NEGATE, arguments=(inner,)):
            return _is_monotone(inner)
        case Call(function=Function.DIVIDE, arguments=(inner, Value(value=number))):
            return number not in (None, 0) and _is_monotone(inner)
        case Call(
            function=Function.ADD | Function.SUBTRACT | Function.MULTIPLY,
            arguments=(left, right),
        ):
            inner = right if isinstance(left, Value) else left
            return isinstance(left, Value) != isinstance(right, Value) and _is_monotone(inner)
        case _:
            return False


def _evaluate(
    value: Expression, field: Field, ends: tuple[Fraction, Fraction]
) -> list[float] | None:
    """The values at the ends (None: they are too great)."""
    from ontoweir.mappings.expressions.evaluate import evaluate  # brings Arrow, only used here
    from ontoweir.mappings.expressions.value_types import to_array, to_scalars

    given: list[Scalar | None] = []
    if max(map(abs, ends)) > _FAR:
        return None
    for end, wider in zip(ends, (floor, ceil), strict=True):
        match field.type:
            case FloatType():
                given.append(float(end))
            case DecimalType(precision=precision, scale=scale):
                most = 10**precision - 1  # no value of the type is beyond that
                whole = max(-most, min(most, wider(end * 10**scale)))
                given.append(Decimal(whole).scaleb(-scale))
            case _:
                given.append(wider(end))
    made = to_scalars(evaluate(value, {field.column: to_array(given, field.type)}, 2), value.type)
    numbers = [float(m) for m in made if isinstance(m, int | float | Decimal)]
    return numbers if len(numbers) == 2 and all(map(isfinite, numbers)) else None
