"""Values of columns with which what is computed of them goes on without end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice, product
from math import isfinite
from typing import Any

from ontoweir.checker.witness.growth.compute_value import NoRowError, compute_value
from ontoweir.checker.witness.growth.find_tendency import (
    Source,
    Tendency,
    find_tendency,
    spell_source,
)
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Scalar,
    Stream,
    StringType,
)
from ontoweir.mappings.model.expression import Expression, Value, fields_of, parts_of

_FAR, _APART = 10**9, 10**6
"""Where the values of a growing column begin, and how far apart they are."""
_STEP = 10_007
"""How far apart values are that only need to be others."""
_FEW_DIGITS = 6
"""Decimals of so many digits have few values (theory §2)."""
_TRIED = 100
"""How many values of the other columns are tried."""


def grow_columns(
    table: Stream | Relation, expression: Expression
) -> dict[str, Callable[[int], Any]]:
    """The columns that an expression is computed of, with what they are for each of its values in
    turn: one grows, so that there are values without end, and the others stay.

    Raises:
        NoRowError: it is not known which.
    """
    fields = fields_of(expression)
    for name in fields:
        grown = table.column(name)
        if grown is None or is_referenced(table, name) or grown.expression is not None:
            continue
        for held in _list_still(table, expression, [n for n in fields if n != name]):
            for source, value in _list_growing(grown, expression, held):
                if find_tendency(expression, source) not in (None, Tendency.STILL):
                    return {name: value, **{n: _hold(v) for n, v in held.items()}}
    raise NoRowError


def has_many(column: Column) -> bool:
    """Whether a column that is not computed has values without end, upwards."""
    if column.enum is not None or column.maximum is not None:
        return False
    match column.type:
        case IntType():
            return True
        case StringType() | FloatType():
            return column.minimum is None
        case DecimalType(precision=precision, scale=scale):
            return column.minimum is None and _are_many(precision, scale)
        case _:
            return False


def _are_many(precision: int, scale: int) -> bool:
    """Whether decimals are more than a range, and so are those that are whole numbers."""
    return precision > _FEW_DIGITS and precision - scale >= _FEW_DIGITS


def name_value(column: Column, number: int, text: str) -> Scalar:
    """One of the values of such a column, by its number, which is not negative; `text`: how texts
    begin."""
    match column.type:
        case StringType():
            return f"{text} {number + 1}"
        case FloatType():
            return float(_STEP * (number + 1))
        case DecimalType(precision=precision, scale=scale):
            return Decimal(min(_STEP, 10 ** (precision - scale) // 1_000) * (number + 1))
        case _:
            return max(int(column.minimum or 0), 0) + _STEP * (number + 1)


def is_referenced(table: Stream | Relation, name: str) -> bool:
    """Whether a column's values are those of a static relation, however many they are."""
    return isinstance(table, Relation) or any(name in r.columns for r in table.references)


def _list_growing(
    column: Column, expression: Expression, held: Mapping[str, Any]
) -> Iterator[tuple[Source, Callable[[int], Any]]]:
    """Ways in which the values of a column go on without end, far from all constants and far
    apart; the other columns have the values that are `held`."""
    if column.enum is not None:
        return

    def known(made: Expression) -> Any:
        try:
            return compute_value(made, held)
        except NoRowError:
            return None

    grows = Source(column.name, Tendency.UP, known=known)
    falls = replace(grows, tends=Tendency.DOWN)
    match column.type:
        case StringType():
            if column.minimum is None and column.maximum is None:
                many = replace(grows, tends=Tendency.MANY)
                yield many, lambda number: f"s{_FAR + number * _APART}"
                again = replace(spell_source(column.name, expression), known=known)
                width, times = again.width or 1, again.length // (again.width or 1)
                yield again, lambda number: _spell(number, width) * times
                yield replace(grows, tends=Tendency.LONG), lambda number: "x" * (64 + 16 * number)
        case IntType():
            if column.maximum is None:
                least = max(_FAR, int(column.minimum or 0))
                yield grows, lambda number: least + number * _APART
            if column.minimum is None:
                most = min(-_FAR, int(column.maximum or 0))
                yield falls, lambda number: most - number * _APART
        case FloatType():
            if column.minimum is None and column.maximum is None:
                yield grows, lambda number: float(_FAR + number * _APART)
                yield falls, lambda number: float(-_FAR - number * _APART)
        case DecimalType(precision=precision, scale=scale):
            digits = precision - scale
            free = column.minimum is None and column.maximum is None
            if free and _are_many(precision, scale):
                far = min(_FAR, 10 ** (digits - 1))
                yield grows, lambda number: Decimal(far + number * far // 1000)
                yield falls, lambda number: Decimal(-far - number * far // 1000)
        case _:
            return


def _spell(number: int, width: int) -> str:
    """A number as a text of so many digits.

    Raises:
        NoRowError: there is none."""
    text = f"{number:0{width}}"
    if len(text) > width:
        raise NoRowError
    return text


def _hold(value: Any) -> Callable[[int], Any]:
    return lambda _: value


def _list_still(
    table: Stream | Relation, expression: Expression, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Values that some columns may have in all rows, so that an expression grows with another one:
    those that it compares with something, and beside them.

    Raises:
        NoRowError: of a column none is known."""
    choices = [_list_values(table, name, expression) for name in names]
    for chosen in islice(product(*choices), _TRIED):
        yield dict(zip(names, chosen, strict=True))


def _list_values(table: Stream | Relation, name: str, expression: Expression) -> list[Any]:
    column = table.column(name)
    if column is None or is_referenced(table, name) or column.expression is not None:
        raise NoRowError
    if column.enum is not None:
        return list(column.enum)
    if column.minimum is not None or column.maximum is not None:
        raise NoRowError
    named = [p.value for p in parts_of(expression) if isinstance(p, Value)]
    numbers = [v for v in named if isinstance(v, int | float | Decimal) and isfinite(v)]
    near = [int(v) + step for v in numbers for step in (0, 1, -1)]
    match column.type:
        case StringType():
            return ["x", *(v for v in named if isinstance(v, str))]
        case BooleanType():
            return [True, False]
        case IntType():
            return list(dict.fromkeys([1, *near]))
        case FloatType():
            return list(dict.fromkeys([1.0, *map(float, near)]))
        case DecimalType(precision=precision, scale=scale):
            there = (v for v in near if abs(v) < 10 ** (precision - scale))
            return list(dict.fromkeys([Decimal(1), *map(Decimal, there)]))
        case _:
            raise NoRowError
