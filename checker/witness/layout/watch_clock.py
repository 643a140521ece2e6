"""Columns that are computed of a row's time, and are the same a week later."""

from collections.abc import Iterable

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.witness.growth.compute_value import NoRowError
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    UserCall,
    Value,
    fields_of,
)
from ontoweir.rewriter.model.spj import IsNull

_PERIODIC = (
    Function.HOUR,
    Function.MINUTE,
    Function.SECOND,
    Function.SECONDS,
    Function.DAY_OF_WEEK,
)
_WEEK_US = 7 * 24 * 3_600_000_000


def stretch_steps(form: NormalForm, catalog: Catalog) -> int:
    """By how much steps of time are multiplied, so that what is computed of them is the same at all
    times: 1 where nothing is.

    So what a witness shows does not rest on how few rows lie within an hour: however many copies
    there are, each may come whole weeks after another.

    Raises:
        NoRowError: it is not known how that may be.
    """
    streams = {catalog.streams[m.stream].name: catalog.streams[m.stream] for m in form.members}
    clocked = False
    absent = (c.attribute for c in form.query.conditions if isinstance(c, IsNull))
    for attribute in (*form.class_of, *absent):
        of = next((m.stream for m in form.members if m.alias == attribute.alias), None)
        column = None if of is None else catalog.streams[of].column(attribute.column)
        if of is None or column is None or column.expression is None:
            continue
        stamp = catalog.streams[of].timestamp
        if stamp not in fields_of(column.expression):
            continue
        if not _is_periodic(column.expression, stamp):
            raise NoRowError
        clocked = True
    if not clocked:
        return 1
    units = {stream.step_us for stream in streams.values()}
    unit = units.pop()
    if units or _WEEK_US % unit:
        raise NoRowError
    return _WEEK_US // unit


def reads_time(expression: Expression | None, stream: Stream) -> bool:
    """Whether a column is computed of the row's time."""
    return expression is not None and stream.timestamp in fields_of(expression)


def _is_periodic(expression: Expression, stamp: str) -> bool:
    """Whether it is the same a week later: only parts of the time within a week are read."""

    def all_are(parts: Iterable[Expression]) -> bool:
        return all(_is_periodic(part, stamp) for part in parts)

    match expression:
        case Field(column=column):
            return column != stamp
        case Value():
            return True
        case Call(function=function, arguments=(Field(), *rest)) if function in _PERIODIC:
            return all_are(rest)
        case Call(arguments=arguments):
            return all_are(arguments)
        case Case(branches=branches, otherwise=otherwise):
            return all_are((otherwise, *(e for branch in branches for e in branch)))
        case UserCall():
            return False
