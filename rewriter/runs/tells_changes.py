"""Whether a number rises wherever a column has another value than in the row before."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    UserCall,
    Value,
    conjuncts_of,
)
from ontoweir.mappings.model.never_null import never_null
from ontoweir.mappings.model.preceding import Counted, Preceding
from ontoweir.rewriter.runs.list_rising_columns import list_levels


class _Other(Exception):
    """It asks something else than whether two values are equal, or there."""


def list_told_changes(stream: Stream, column: str, catalog: Catalog) -> frozenset[str]:
    """The columns that are alike in all rows of a key with one value of a column: this is a sum, or
    a count, of all rows of the key so far, which rises where they are not as in the row before.

    Args:
        stream: of rows that have met those before them.
        column: one of its columns.
        catalog: with the streams that it is made of.
    """
    levels = list(list_levels(stream, catalog))
    for number, (_, meeting) in enumerate(levels):
        counted = next((c for c in meeting.columns if c.name == column), None)
        if counted is None:
            continue
        if not counted.runs or counted.last or counted.function not in ("sum", "count"):
            return frozenset()
        found = set()
        for _, lower in levels[number + 1 :]:
            if {*lower.key} == {*meeting.key} and not (lower.after or lower.ties or meeting.ties):
                there = {*never_null(catalog.streams[lower.base]), *_list_told(lower)}
                found |= {
                    before.argument.column
                    for before in lower.columns
                    if _is_of_row_before(before)
                    and isinstance(before.argument, Field)
                    and _rises(counted, before.name, before.argument.column, there)
                }
        return frozenset(found)
    return frozenset()


def _is_of_row_before(counted: Counted) -> bool:
    return counted.function == "first" and (counted.first, counted.last) == (1, 1)


def _list_told(meeting: Preceding) -> Iterator[str]:
    """The columns that have a value in all rows that count."""
    for said in conjuncts_of(meeting.only):
        match said:
            case Call(
                function=Function.NOT,
                arguments=(Call(function=Function.IS_NULL, arguments=(Field(column=column),)),),
            ):
                yield column
            case _:
                pass


def _rises(counted: Counted, before: str, column: str, there: AbstractSet[str]) -> bool:
    """Whether what is added is more than nothing where two values are not the same, or one is
    missing: it may be, if it is not among those that are `there`, declared so or not."""
    if counted.argument is None:
        return False
    pairs: list[tuple[Any, Any]] = [("a", "b")]
    pairs += [] if column in there else [(None, "b"), ("a", None)]
    try:
        added = [_compute(counted.argument, {before: b, column: c}) for b, c in pairs]
    except _Other:
        return False
    if counted.function == "count":
        return None not in added
    return all(isinstance(n, int | float) and n > 0 for n in added)


def _compute(made: Expression, row: dict[str, Any]) -> Any:
    """The value of an expression that asks whether two values are equal."""
    match made:
        case Value(value=value):
            return value
        case Field(column=column):
            if column not in row:
                raise _Other
            return row[column]
        case Case(branches=branches, otherwise=otherwise):
            for condition, then in branches:
                if _compute(condition, row) is True:
                    return _compute(then, row)
            return _compute(otherwise, row)
        case Call(function=function, arguments=arguments):
            return _call(function, arguments, row)
        case UserCall():
            raise _Other


def _call(function: Function, arguments: tuple[Expression, ...], row: dict[str, Any]) -> Any:
    compares = function in (Function.EQUAL, Function.UNEQUAL)
    if compares and not all(isinstance(e, Field) for e in arguments):
        raise _Other
    values = [_compute(e, row) for e in arguments]
    match function:
        case Function.EQUAL:
            return None if None in values else values[0] == values[1]
        case Function.UNEQUAL:
            return None if None in values else values[0] != values[1]
        case Function.IS_NULL:
            return values[0] is None
        case Function.NOT:
            return None if values[0] is None else not values[0]
        case Function.AND:
            return False if False in values else None if None in values else True
        case Function.OR:
            return True if True in values else None if None in values else False
        case Function.COALESCE:
            return next((v for v in values if v is not None), None)
        case Function.CAST | Function.TRY_CAST if isinstance(values[0], bool | int):
            return int(values[0])
        case _:
            raise _Other
