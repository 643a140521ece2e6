"""Expressions that have values without end: which column makes them, and how.

Let one column grow, all others stay as they are. What then grows, or falls, without limit, or is a
text that tells how far it is, takes infinitely many values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ontoweir.mappings.model.catalog import DecimalType, FloatType, IntType, StringType
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    UserCall,
    Value,
    fields_of,
    parts_of,
)


class Tendency(StrEnum):
    """Where an expression tends as a column grows: numbers without limit, texts without end, longer
    texts, or one value, which is not NULL where it is of a column."""

    UP = "up"
    DOWN = "down"
    MANY = "many"
    LONG = "long"
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
_SPELLINGS = (Function.UPPER, Function.LOWER, Function.UCASE, Function.LCASE, Function.TRIM)
"""Functions that leave texts of digits as they are."""
_DIGITS, _FEWEST = 6, 2
"""How many digits the numbers in texts have, and at the least."""
_IN_TEXTS, _IN_NUMBERS = frozenset("sS0123456789"), frozenset("0123456789-+.eE")
"""The characters of texts that tell numbers, and of numbers as texts."""
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
    """A column whose numbers grow (UP), fall (DOWN), whose texts tell growing numbers (MANY), or
    grow (LONG).

    width: a text of `length` characters is a number of so many digits again and again (None: it is
        a letter and a number). So any part of it that is as long tells which it is.
    known: what an expression of the other columns is (None: of these it is not known, but that they
        have values, which are 1 where they are numbers).
    """

    column: str
    tends: Tendency
    width: int | None = None
    length: int = 0
    known: Callable[[Expression], Any] | None = None


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
            return _scale(call, known, source)
        case Function.ABS:
            return Tendency.UP if first in (Tendency.UP, Tendency.DOWN) else first
        case Function.GREATEST | Function.LEAST:
            best = Tendency.UP if call.function is Function.GREATEST else Tendency.DOWN
            if every & {Tendency.MANY, Tendency.LONG}:
                return None
            return best if best in every else _only(every)
        case Function.CONCAT:
            telling = every - {Tendency.STILL}
            if not telling:
                return Tendency.STILL
            return _only(telling) if telling <= {Tendency.MANY, Tendency.LONG} else None
        case Function.CAST | Function.TRY_CAST | Function.EXACT_TEXT:
            return _cast(call, first)
        case Function.LENGTH:
            return {Tendency.LONG: Tendency.UP, Tendency.STILL: Tendency.STILL}.get(first)
        case Function.SUBSTRING | Function.RIGHT | Function.REPLACE | Function.SPLIT_PART:
            return Tendency.STILL if every == {Tendency.STILL} else _part(call, first, source)
        case function if function in _KEEPING:
            return first if set(rest) <= {Tendency.STILL} or function is Function.COALESCE else None
        case _:
            return None


def _part(call: Call, text: Tendency, source: Source) -> Tendency | None:
    """A part of a text that tells a number, or the text with something else put in."""
    if text is not Tendency.MANY:
        return None
    constants = [a.value if isinstance(a, Value) else None for a in call.arguments[1:]]
    there = _IN_TEXTS if source.tends is Tendency.MANY else _IN_NUMBERS
    match call.function, constants:
        case Function.REPLACE, [str(sought), str()] if sought and not there & set(sought):
            return text
        case Function.SPLIT_PART, [str(sought), 1] if sought and not there & set(sought):
            return text
        case Function.SUBSTRING, [int(first), *rest] if first >= 1 and source.width is not None:
            left = source.length - first + 1
            size = min(left, *(n for n in rest if isinstance(n, int)), left)
        case Function.RIGHT, [int(size)] if source.width is not None:
            size = min(size, source.length)
        case _:
            return None
    inner = call.arguments[0]
    while isinstance(inner, Call) and inner.function in _SPELLINGS:
        inner = inner.arguments[0]
    whole = isinstance(inner, Field) and inner.column == source.column
    return text if whole and size >= (source.width or 0) else None


def _only(every: set[Tendency | None]) -> Tendency | None:
    """What all tend to, if it is the same, or stays."""
    return next(iter(every)) if len(every) == 1 else None


def _add(every: set[Tendency | None]) -> Tendency | None:
    moving = every - {Tendency.STILL}
    if not moving:
        return Tendency.STILL
    return _only(moving) if not moving & {Tendency.MANY, Tendency.LONG} else None


def _scale(call: Call, known: list[Tendency | None], source: Source) -> Tendency | None:
    """A number times a constant, or divided by it, where columns that stay are 1; or times one that
    grows or falls, too."""
    left, right = call.arguments
    if known == [Tendency.STILL, Tendency.STILL]:
        return Tendency.STILL
    moving, still = (known[0], right) if known[1] is Tendency.STILL else (known[1], left)
    far = (Tendency.UP, Tendency.DOWN)
    if call.function is Function.MULTIPLY and known[0] in far and known[1] in far:
        return Tendency.UP if known[0] is known[1] else Tendency.DOWN
    if Tendency.STILL not in known or moving not in far:
        return None
    if call.function is not Function.MULTIPLY and known[1] is not Tendency.STILL:
        return None
    if source.known is not None:
        factor = source.known(still)
        if factor is None or not factor or factor != factor:
            return None
        return moving if factor > 0 else _FLIPPED[moving]
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
            return first if first is Tendency.LONG else Tendency.MANY
        case IntType() | FloatType():
            return first if first in (Tendency.UP, Tendency.DOWN) else None
        case DecimalType(precision=precision, scale=scale):
            match call.arguments[0].type:
                case DecimalType(precision=of, scale=behind) if of - behind <= precision - scale:
                    return first
                case _:
                    return None
        case _:
            return None


def find_truth(condition: Expression, source: Source) -> bool | None:
    """Whether a condition holds from some value of the column on (None: that is not known)."""
    if source.known is not None and source.column not in fields_of(condition):
        truth = source.known(condition)
        return None if truth is None else bool(truth)
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
        return False if known not in (None, Tendency.STILL) else None
    if condition.function not in _COMPARED:
        return None
    left, right = (find_tendency(a, source) for a in arguments)
    if {left, right} in ({Tendency.MANY, Tendency.STILL}, {Tendency.LONG, Tendency.STILL}):
        # some text is another one
        if condition.function not in (Function.EQUAL, Function.UNEQUAL):
            return None
        return condition.function is Function.UNEQUAL
    above, below = _COMPARED[condition.function]
    far = {Tendency.UP: 1, Tendency.STILL: 0, Tendency.DOWN: -1}
    if left not in far or right not in far or far[left] == far[right]:
        return None
    return above if far[left] > far[right] else below


def spell_source(column: str, expression: Expression) -> Source:
    """A column of texts that are numbers of as many digits as each part has that an expression
    takes of texts, again and again.

    Such texts are not without end, as no values of a type are; but more than can be held."""
    sizes, last = [_DIGITS], 0
    for call in parts_of(expression):
        if not isinstance(call, Call):
            continue
        constants = [a.value for a in call.arguments[1:] if isinstance(a, Value)]
        match call.function, constants:
            case Function.SUBSTRING, [int(first), *rest]:
                last = max(last, first)
                sizes += [n for n in rest if isinstance(n, int)]
            case Function.RIGHT, [int(size)]:
                sizes.append(size)
            case _:
                pass
    width = max(min(sizes), _FEWEST)
    return Source(column, Tendency.MANY, width, width * (last // width + 2))
