"""The domain of an expression, derived from those of the columns that it reads.

A domain is finite values, or a range of numbers, or nothing is known. It may be greater than what
occurs, never smaller: verdicts rest on it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias, assert_never

from ontoweir.mappings.expressions.domains.evaluate_all import LARGEST, Finite, evaluate_all
from ontoweir.mappings.expressions.domains.list_whole import Ends, list_whole
from ontoweir.mappings.expressions.functions import DATE_PARTS
from ontoweir.mappings.model.catalog import Column, DecimalType, FloatType, IntType, Scalar
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    UserCall,
    Value,
    has_user_calls,
)

ROUNDED = 2 * 2098 * 64 + 4
"""How many doubles ROUND_RELATIVE makes, at most: of either sign, 64 for each power of 2 of a
double, the least of which is 2^-1074; and 0 and the infinities."""

_PARTS_OF_TIMES = {
    "%m": range(1, 13),
    "%d": range(1, 32),
    "%H": range(24),
    "%M": range(60),
    "%S": range(60),
}
"""Parts of formats, each of two digits."""


@dataclass(frozen=True, slots=True)
class Range:
    """A number that is neither smaller nor greater than the ends there are, or NULL."""

    low: Fraction | None = None
    high: Fraction | None = None


Domain: TypeAlias = Finite | Range | None
"""None: nothing is known."""
Declared: TypeAlias = Mapping[str, Column | Range]
"""Columns by their names; or the ranges of those of which some condition has said more."""


def derive_domain(expression: Expression, columns: Sequence[Column]) -> Domain:
    """Which values an expression can have.

    Args:
        expression: of one row.
        columns: those of its table, with their domains.
    """
    declared = {c.name: c for c in columns}
    # a user's function is not called to decide
    if has_user_calls(expression):
        return _derive(expression, declared)
    listed = evaluate_all(expression, declared) or list_whole(expression, _ends_of(declared))
    made = listed if listed is not None else _derive(expression, declared)
    return made if made is not None else _evaluate_arguments(expression, columns)


def _ends_of(declared: Declared) -> Ends:
    """The least and the greatest value of a column, if it is a number."""

    def find(name: str) -> tuple[Fraction | None, Fraction | None] | None:
        known = _limits(declared.get(name))
        return None if known is None else (known.low, known.high)

    return find


def _limits(column: Column | Range | None) -> Range | None:
    """The range of a number, a double too."""
    known = _range(_declared(column))
    if known is None and isinstance(column, Column) and isinstance(column.type, FloatType):
        return Range(_exact(column.minimum), _exact(column.maximum))
    return known


def _evaluate_arguments(expression: Expression, columns: Sequence[Column]) -> Finite | None:
    """All values of a call, where those of its arguments can be listed, as the hour of a time."""
    if not isinstance(expression, Call):
        return None
    inputs: dict[str, Column] = {}
    arguments: list[Expression] = []
    for place, argument in enumerate(expression.arguments):
        if isinstance(argument, Value):
            arguments.append(argument)
            continue
        name = f"argument {place}"
        match derive_domain(argument, columns):
            case Finite(values=values) if None not in values and values:
                ordered = tuple(sorted(values, key=str))
                inputs[name] = Column(name, argument.type, enum=ordered)
            case Range(low=Fraction() as low, high=Fraction() as high) if isinstance(
                argument.type, IntType
            ):
                inputs[name] = Column(name, argument.type, ceil(low), floor(high))
            case _:
                return None
        arguments.append(Field(name, argument.type))
    if not inputs:
        return None
    return evaluate_all(Call(expression.function, tuple(arguments), expression.type), inputs)


def count_values(expression: Expression | None) -> int | None:
    """How many values an expression has at most, whatever it reads; None: that is not known."""
    rounded = isinstance(expression, Call) and expression.function is Function.ROUND_RELATIVE
    return ROUNDED if rounded else None


def _derive(expression: Expression, declared: Declared) -> Domain:
    match expression:
        case Field(column=name):
            return _declared(declared.get(name))
        case Value(value=constant):
            return Finite(frozenset() if constant is None else frozenset({constant}))
        case Case(branches=branches, otherwise=otherwise):
            domains = []
            for condition, value in branches:
                domains.append(_derive(value, _narrow(condition, declared, holds=True)))
                declared = _narrow(condition, declared, holds=False)
            return _unite([*domains, _derive(otherwise, declared)])
        case Call():
            return _derive_call(expression, declared)
        case UserCall():
            return None
        case _:
            assert_never(expression)


def _declared(column: Column | Range | None) -> Domain:
    if isinstance(column, Range):
        return column
    if column is None or column.bucket is not None:
        return None
    if column.enum is not None:
        return Finite(frozenset(column.enum))
    if isinstance(column.type, IntType | DecimalType):
        return Range(_exact(column.minimum), _exact(column.maximum))
    return None


def _exact(number: Scalar | None) -> Fraction | None:
    return None if number is None else Fraction(Decimal(str(number)))


def _unite(domains: Sequence[Domain]) -> Domain:
    if all(isinstance(d, Finite) for d in domains):
        values = frozenset(v for d in domains if isinstance(d, Finite) for v in d.values)
        return Finite(values) if len(values) <= LARGEST else None
    ranges = [_range(d) for d in domains if not (isinstance(d, Finite) and not d.values)]
    known = [r for r in ranges if r is not None]
    if len(known) < len(ranges):
        return None
    lows = [r.low for r in known if r.low is not None]
    highs = [r.high for r in known if r.high is not None]
    return Range(
        min(lows) if len(lows) == len(known) else None,
        max(highs) if len(highs) == len(known) else None,
    )


def _range(domain: Domain) -> Range | None:
    """The range in which numbers lie; None: they are none, or nothing is known."""
    if isinstance(domain, Range):
        return domain
    if domain is None or any(isinstance(v, str | bool) for v in domain.values):
        return None
    numbers = [Fraction(Decimal(str(v))) for v in domain.values]
    return Range(min(numbers), max(numbers)) if numbers else Range()


def _derive_call(call: Call, declared: Declared) -> Domain:
    function = call.function
    if function in DATE_PARTS:
        low, high = DATE_PARTS[function]
        return Range(Fraction(low), Fraction(high))
    if function is Function.FORMAT:
        return _list_formatted(call)
    given = [_derive(a, declared) for a in call.arguments]
    if function is Function.COALESCE:
        return _unite(given)
    if function in (Function.GREATEST, Function.LEAST):
        constants = [number for a in call.arguments if (number := _constant(a)) is not None]
        return _choose(given, constants, greatest=function is Function.GREATEST)
    if function in (Function.LENGTH, Function.POSITION):
        return Range(Fraction(0))
    if function is Function.SIGN:
        return Range(Fraction(-1), Fraction(1))
    if (whole := list_whole(call, _ends_of(declared))) is not None:
        return whole
    exact = all(isinstance(a.type, IntType | DecimalType) for a in call.arguments)
    if not exact or not isinstance(call.type, IntType | DecimalType):
        return None
    ranges = [_range(d) or Range() for d in given]
    match function:
        case Function.ADD:
            return _add(ranges[0], ranges[1])
        case Function.SUBTRACT:
            return _add(ranges[0], _negate(ranges[1]))
        case Function.NEGATE:
            return _negate(ranges[0])
        case Function.MULTIPLY:
            return _multiply(ranges[0], ranges[1])
        case Function.INTEGER_DIVIDE if ranges[1].low == ranges[1].high and ranges[1].low:
            return _round(_multiply(ranges[0], Range(1 / ranges[1].low, 1 / ranges[1].low)))
        case Function.MODULO:
            return _modulo(ranges[0], ranges[1], 1 if isinstance(call.type, IntType) else 0)
        case Function.ABS:
            return _absolute(ranges[0])
        case Function.FLOOR | Function.CEIL | Function.ROUND | Function.ROUND_UP:
            return _round(ranges[0])
        case Function.CAST | Function.TRY_CAST:
            return _round(ranges[0])
        case _:
            return None


def _constant(expression: Expression) -> Fraction | None:
    """The exact number that is written; None: it is none."""
    match _uncast(expression):
        case Value(value=int() | Decimal() | float() as value) if not isinstance(value, bool):
            return _exact(value)
        case Call(function=Function.NEGATE, arguments=(inner,)):
            return None if (number := _constant(inner)) is None else -number
        case _:
            return None


def _choose(given: Sequence[Domain], constants: Sequence[Fraction], *, greatest: bool) -> Domain:
    """The greatest, or the least: it is on one side of constants, whatever else is NULL."""
    united = _unite(given)
    if not isinstance(united, Range):
        return united
    lows = [end for end in (united.low, *(constants if greatest else ())) if end is not None]
    highs = [end for end in (united.high, *(() if greatest else constants)) if end is not None]
    return Range(max(lows, default=None), min(highs, default=None))


_SIDES = {
    Function.LESS: Function.GREATER,
    Function.AT_MOST: Function.AT_LEAST,
    Function.GREATER: Function.LESS,
    Function.AT_LEAST: Function.AT_MOST,
    Function.EQUAL: Function.EQUAL,
    Function.UNEQUAL: Function.UNEQUAL,
}
"""The comparison with its sides exchanged."""
_ABOVE = (Function.GREATER, Function.AT_LEAST)
_BELOW = (Function.LESS, Function.AT_MOST)
_EQUAL = {True: Function.EQUAL, False: Function.UNEQUAL}


def _narrow(condition: Expression, declared: Declared, *, holds: bool) -> Declared:
    """The domains of columns in rows of which a condition is not false (`holds`), or not true."""
    if not isinstance(condition, Call):
        return declared
    function = condition.function
    if function is Function.NOT:
        return _narrow(condition.arguments[0], declared, holds=not holds)
    if function is (Function.AND if holds else Function.OR):
        for argument in condition.arguments:
            declared = _narrow(argument, declared, holds=holds)
        return declared
    if function not in _SIDES:
        return declared
    left, right = map(_uncast, condition.arguments)
    if isinstance(right, Field):
        left, right, function = right, left, _SIDES[function]
    number = _constant(right)
    if number is None or not isinstance(left, Field):
        return declared
    known = _declared(of := declared.get(left.column)) or _limits(of)
    if not isinstance(known, Range):
        return declared
    low = function in (_ABOVE if holds else _BELOW) or function is _EQUAL[holds]
    high = function in (_BELOW if holds else _ABOVE) or function is _EQUAL[holds]
    lows = [end for end in (known.low, number if low else None) if end is not None]
    highs = [end for end in (known.high, number if high else None) if end is not None]
    if lows and highs and max(lows) > min(highs):  # there is no such row
        return declared
    return {**declared, left.column: Range(max(lows, default=None), min(highs, default=None))}


def _uncast(side: Expression) -> Expression:
    """A number without a CAST to wider decimals, which keeps its value."""
    if isinstance(side, Call) and side.function is Function.CAST:
        of, to = side.arguments[0].type, side.type
        of = DecimalType(19, 0) if isinstance(of, IntType) else of
        if isinstance(of, DecimalType) and isinstance(to, DecimalType) and to.scale >= of.scale:
            return side.arguments[0] if to.precision - to.scale >= of.precision - of.scale else side
    return side


def _list_formatted(call: Call) -> Domain:
    """The texts of a format that has no year in it: 24 of `%H`, 366 and a few more of `%m-%d`."""
    (text,) = (a.value for a in call.arguments if isinstance(a, Value))
    made = [""]
    for piece in re.findall("%.|[^%]+", str(text)):
        values = _PARTS_OF_TIMES.get(piece)
        if values is None and piece.startswith("%"):
            return None
        parts = [piece] if values is None else [f"{n:02d}" for n in values]
        if len(made) * len(parts) > LARGEST:
            return None
        made = [before + part for before in made for part in parts]
    return Finite(frozenset(made))


def _add(left: Range, right: Range) -> Range:
    return Range(
        None if left.low is None or right.low is None else left.low + right.low,
        None if left.high is None or right.high is None else left.high + right.high,
    )


def _negate(inner: Range) -> Range:
    return Range(
        None if inner.high is None else -inner.high, None if inner.low is None else -inner.low
    )


def _multiply(left: Range, right: Range) -> Range:
    """Of a range without an end, as far as the other one is a constant."""
    ends = (left.low, left.high, right.low, right.high)
    if all(e is not None for e in ends):
        corners = [
            a * b
            for a in (left.low, left.high)
            for b in (right.low, right.high)
            if a is not None and b is not None
        ]
        return Range(min(corners), max(corners))
    if left.low is not None and left.low == left.high:
        left, right = right, left
    factor = right.low
    if factor is None or factor != right.high:
        if left.low is not None and right.low is not None and left.low >= 0 and right.low >= 0:
            return Range(left.low * right.low)
        return Range()
    if factor == 0:
        return Range(Fraction(0), Fraction(0))
    ends_made = (
        None if left.low is None else left.low * factor,
        None if left.high is None else left.high * factor,
    )
    return Range(*(ends_made if factor > 0 else reversed(ends_made)))


def _modulo(left: Range, right: Range, nearer: int) -> Range:
    """It has the sign of the dividend, and is nearer to 0 than the divisor (whole numbers by 1)."""
    far = None
    if right.low is not None and right.high is not None:
        far = max(abs(right.low), abs(right.high), Fraction(nearer)) - nearer
    lows = [] if far is None else [-far]
    highs = [] if far is None else [far]
    if left.low is not None:
        lows.append(min(left.low, Fraction(0)))
    if left.high is not None:
        highs.append(max(left.high, Fraction(0)))
    return Range(max(lows, default=None), min(highs, default=None))


def _absolute(inner: Range) -> Range:
    low, high = inner.low, inner.high
    if low is not None and low >= 0:
        return inner
    if high is not None and high <= 0:
        return _negate(inner)
    most = None if low is None or high is None else max(-low, high)
    return Range(Fraction(0), most)


def _round(inner: Range) -> Range:
    """Rounding moves a number by less than 1 towards any end, to a whole number or place."""
    return Range(
        None if inner.low is None else Fraction(inner.low.__floor__()),
        None if inner.high is None else Fraction(inner.high.__ceil__()),
    )
