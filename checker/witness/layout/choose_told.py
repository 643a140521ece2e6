"""Values of unused columns for which derived columns, that aggregates read, say something."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ontoweir.checker.witness.growth.compute_value import NoRowError, compute_value
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    FloatType,
    IntType,
    Relation,
    Stream,
    StringType,
)
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Function,
    UserCall,
    Value,
    fields_of,
)

_AROUND = (1, -1, 0)


def choose_told(
    table: Stream | Relation,
    known: Collection[str],
    filled: Mapping[str, Any],
    *,
    muted: bool = False,
) -> dict[str, Any]:
    """Other values for some of a row's columns that no condition mentions, so that columns that
    are computed of them are neither NULL, nor false, nor 0: an aggregate of `CASE WHEN speed > 10
    THEN 1 END` then sees the row. The witness is confirmed as it is: these are likely values.

    Args:
        table: of the row.
        known: its columns that conditions and answers mention, whose values are laid out.
        filled: the values of all, but for those that are computed.
        muted: the other way round, so that they say nothing.
    """
    derived = [c for c in table.columns if c.expression is not None]
    fixed = {n for c in derived if c.name in known for n in fields_of(_expression(c))}
    fixed |= {name for key in table.keys for name in key}
    fixed |= {n for r in getattr(table, "references", ()) for n in r.columns} | {*known}
    chosen: dict[str, Any] = {}
    for column in derived:
        if column.name in known:
            continue
        whole = _expression(column)
        for part in (whole,) if muted else _list_parts(whole):
            fields = fields_of(part)
            free = [n for n in fields if n not in {*fixed, *chosen} and _is_plain(table, n)]
            if not fields.keys() <= filled.keys():
                continue
            if _tells(part, {**filled, **chosen}) is not muted:
                if muted or isinstance(part.type, BooleanType):  # so that it is of other rows, too
                    chosen |= {n: filled[n] for n in free}
                continue
            for name in free:
                source = table.column(name)
                assert source is not None
                values = (
                    value
                    for value in _list_values(source, part)
                    if _tells(part, {**filled, **chosen, name: value}) is not muted
                )
                if (found := next(values, None)) is not None:
                    chosen[name] = found
                    break
    return chosen


def _is_plain(table: Stream | Relation, name: str) -> bool:
    """Whether a column is there, and is not computed."""
    column = table.column(name)
    return column is not None and column.expression is None


def _list_parts(expression: Expression) -> Iterator[Expression]:
    """The conditions that an expression asks for, each by itself, and then the whole."""
    match expression:
        case Call(function=Function.AND, arguments=arguments):
            for one in arguments:
                yield from _list_parts(one)
        case Case(branches=((condition, _), *_)):
            yield from _list_parts(condition)
        case _:
            pass
    yield expression


def _expression(column: Column) -> Expression:
    assert column.expression is not None
    return column.expression


def _tells(expression: Expression, content: Mapping[str, Any]) -> bool:
    try:
        value = compute_value(expression, content)
    except NoRowError:
        return True  # it is not known, and nothing else is tried
    return value is not None and value is not False and value != 0


def _list_values(source: Column, expression: Expression) -> Iterator[Any]:
    """Values of a column that an expression may make something of: those of a small domain, else
    its constants, and numbers beside them."""
    if source.enum is not None:
        yield from source.enum
        return
    if isinstance(source.type, BooleanType):
        yield from (True, False)
        return
    for value in dict.fromkeys(_list_constants(expression)):
        match source.type:
            case StringType() if isinstance(value, str):
                candidates: tuple[Any, ...] = (value, value.strip("%"))
            case IntType() if isinstance(value, int | float):
                candidates = tuple(int(value) + n for n in _AROUND)
            case FloatType() if isinstance(value, int | float):
                candidates = tuple(float(value) + n for n in _AROUND)
            case _:
                continue
        for one in candidates:
            low, high = source.minimum, source.maximum
            if (low is None or one >= low) and (high is None or one <= high):
                yield one


def _list_constants(expression: Expression) -> Iterator[Any]:
    match expression:
        case Value(value=value):
            if value is not None and not isinstance(value, bool):
                yield value
        case Call(function=Function.CAST, arguments=(Value(value=str(value)), *_)):
            yield value
        case Call(arguments=arguments) | UserCall(arguments=arguments):
            for one in arguments:
                yield from _list_constants(one)
        case Case(branches=branches, otherwise=otherwise):
            for one in (*(e for branch in branches for e in branch), otherwise):
                yield from _list_constants(one)
        case _:
            return
