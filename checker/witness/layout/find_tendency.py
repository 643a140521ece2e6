"""Expressions that have values without end: which column makes them, and how.

Let one column grow, all others stay as they are. What then grows, or falls, without limit, or is a
text that tells how far it is, takes infinitely many values.
"""

from dataclasses import dataclass
from enum import StrEnum

from ontoweir.mappings.model.catalog import FloatType, IntType, StringType
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    UserCall,
    Value,
)


class Tendency(StrEnum):
    """Where an expression tends as a column grows: numbers without limit, texts without end, or one
    value, which is not NULL where it is of a column."""

    UP = "up"
    DOWN = "down"
    MANY = "many"
    STILL = "still"


_FLIPPED = {
    Tendency.UP: Tendency.DOWN,
    Tendency.DOWN: Tendency.UP,
    Tendency.STILL: Tendency.STILL,
}
_KEEPING = (
    Function.FLOOR,
    Function.CEIL,
    Function.ROUND,
    Function.ROUND_UP,
    Function.UPPER,
    Function.LOWER,
    Function.UCASE,
    Function.LCASE,
    Function.TRIM,
    Function.LTRIM,
    Function.RTRIM,
    Function.COALESCE,
)
"""Functions that tend where their first argument does. Texts are digits, or begin with letters."""
_COMPARED = {
    Function.EQUAL: (False, False),
    Function.UNEQUAL: (True, True),
    Function.LESS: (False, True),
    Function.AT_MOST: (False, True),
    Function.GREATER: (True, False),
    Function.AT_LEAST: (True, False),
}
"""Whether a comparison holds where the left side is far above the right one, and far below."""


@dataclass(frozen=True, slots=True)
class Source:
    """A column whose numbers grow (UP), fall (DOWN), or whose texts tell growing numbers (MANY)."""

    column: str
    tends: Tendency


def find_tendency(expression: Expression, source: Source) -> Tendency | None:
    """Where an expression tends (None: that is not known). All columns but the source have a value,
    which is 1 where it is a number."""
    match expression:
        case Field(column=column):
            return source.tends if column == source.column else Tendency.STILL
        case Value(value=value):
            return None if value is None else Tendency.STILL
        case Call():
            return _of_call(expression, source)
        case Case(branches=branches, otherwise=otherwise):
            for condition, chosen in branches:
                match find_truth(condition, source):
                    case True:
                        return find_tendency(chosen, source)
                    case None:
                        return None
                    case False:
                        pass
            return find_tendency(otherwise, source)
        case UserCall():
            return None


def _of_call(call: Call, source: Source) -> Tendency | None:
    first, *rest = known = [find_tendency(a, source) for a in call.arguments]
    if first is None or (None in rest and call.function is not Function.COALESCE):
        return None
    every = set(known)
    match call.function:
        case Function.ADD:
            return _add(every)
        case Function.SUBTRACT:
            return _add({first, *(_FLIPPED.get(r) if r is not None else None for r in rest)})
        case Function.NEGATE:
            return _FLIPPED.get(first)
        case Function.MULTIPLY | Function.DIVIDE | Function.INTEGER_DIVIDE:
            return _scale(call, known)
        case Function.ABS:
            return Tendency.UP if first in (Tendency.UP, Tendency.DOWN) else first
        case Function.GREATEST | Function.LEAST:
            best = Tendency.UP if call.function is Function.GREATEST else Tendency.DOWN
            if Tendency.MANY in every:
                return None
            return best if best in every else _only(every)
        case Function.CONCAT:
            if not every <= {Tendency.MANY, Tendency.STILL}:
                return None
            return Tendency.MANY if Tendency.MANY in every else Tendency.STILL
        case Function.CAST | Function.TRY_CAST | Function.EXACT_TEXT:
            return _cast(call, first)
        case function if function in _KEEPING:
            return first if set(rest) <= {Tendency.STILL} or function is Function.COALESCE else None
        case _:
            return None


def _only(every: set[Tendency | None]) -> Tendency | None:
    """What all tend to, if it is the same, or stays."""
    return next(iter(every)) if len(every) == 1 else None


def _add(every: set[Tendency | None]) -> Tendency | None:
    moving = every - {Tendency.STILL}
    if not moving:
        return Tendency.STILL
    return _only(moving) if Tendency.MANY not in moving else None


def _scale(call: Call, known: list[Tendency | None]) -> Tendency | None:
    """A number times a constant, or divided by it, where columns that stay are 1; or times one that
    grows or falls, too."""
    left, right = call.arguments
    if known == [Tendency.STILL, Tendency.STILL]:
        return Tendency.STILL
    moving, still = (known[0], right) if known[1] is Tendency.STILL else (known[1], left)
    far = (Tendency.UP, Tendency.DOWN)
    if call.function is Function.MULTIPLY and known[0] in far and known[1] in far:
        return Tendency.UP if known[0] is known[1] else Tendency.DOWN
    if Tendency.STILL not in known or Tendency.MANY in known or moving is None:
        return None
    if call.function is not Function.MULTIPLY and known[1] is not Tendency.STILL:
        return None
    match still:
        case Field():
            return moving
        case Value(value=value) if not isinstance(value, bool | str | None):
            return None if value == 0 else moving if value > 0 else _FLIPPED[moving]
        case Call(function=Function.NEGATE, arguments=(Value(value=value),)):
            return (
                _FLIPPED[moving] if not isinstance(value, bool | str | None) and value > 0 else None
            )
        case Call(function=Function.CAST, arguments=(Field(),)):
            return moving
        case Call(function=Function.CAST, arguments=(Value(value=value),)):
            positive = not isinstance(value, bool | str | None) and value > 0
            return moving if positive else None
        case _:
            return None


def _cast(call: Call, first: Tendency) -> Tendency | None:
    """To whole numbers, doubles and texts, all of which have values without end, and hold all whole
    numbers that occur."""
    if first is Tendency.STILL:
        return first
    match call.type:
        case StringType():
            return Tendency.MANY
        case IntType() | FloatType():
            return first if first is not Tendency.MANY else None
        case _:
            return None


def find_truth(condition: Expression, source: Source) -> bool | None:
    """Whether a condition holds from some value of the column on (None: that is not known)."""
    if not isinstance(condition, Call):
        return None
    arguments = condition.arguments
    if condition.function is Function.NOT:
        inner = find_truth(arguments[0], source)
        return None if inner is None else not inner
    if condition.function in (Function.AND, Function.OR):
        sides = [find_truth(a, source) for a in arguments]
        decisive = condition.function is Function.OR
        if decisive in sides:
            return decisive
        return None if None in sides else not decisive
    if condition.function is Function.IS_NULL:
        known = find_tendency(arguments[0], source)
        return False if known in (Tendency.UP, Tendency.DOWN, Tendency.MANY) else None
    if condition.function not in _COMPARED:
        return None
    left, right = (find_tendency(a, source) for a in arguments)
    if {left, right} == {Tendency.MANY, Tendency.STILL}:  # some text is another one
        if condition.function not in (Function.EQUAL, Function.UNEQUAL):
            return None
        return condition.function is Function.UNEQUAL
    above, below = _COMPARED[condition.function]
    far = {Tendency.UP: 1, Tendency.STILL: 0, Tendency.DOWN: -1}
    if left not in far or right not in far or far[left] == far[right]:
        return None
    return above if far[left] > far[right] else below
