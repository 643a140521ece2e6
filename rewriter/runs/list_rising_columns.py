"""Which columns of rows never fall from one row of a key to the next."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ontoweir.mappings.model.catalog import BooleanType, Catalog, Stream
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    Value,
    fields_of,
)
from ontoweir.mappings.model.preceding import Counted, Preceding

Keys: TypeAlias = Mapping[str, frozenset[str]]
"""Columns, each with those of the key whose rows it never falls in."""


def list_rising_columns(stream: Stream, catalog: Catalog) -> Keys:
    """The columns of a stream of which each row has no less than the rows of the same key before
    it: timestamps; of rows that are given later, their own time, which is in the order of their
    key; and counts, greatest values and sums of what is not below 0, of all rows of a key so far,
    but for those that have few values, or are in an order of the rows of one time.

    Args:
        stream: of a catalog; of one that is declared these are timestamps alone.
        catalog: with the streams that are made of rows and those before them.
    """
    meeting = catalog.preceding.get(stream.name)
    if meeting is None:
        return {stream.timestamp: frozenset()}
    base, key = catalog.streams[meeting.base], frozenset(meeting.key)
    found = dict(list_rising_columns(base, catalog))
    if meeting.after:  # the rows of a key are given in order, those of all are not
        found = {column: of for column, of in found.items() if key <= of}
        found[meeting.time] = key
        found[stream.timestamp] = frozenset()
    for counted in meeting.columns:
        whole = counted.runs and not (meeting.within or meeting.run or meeting.ties)
        if whole and _rises(counted, base) and not _is_finite(stream, counted.name):
            found[counted.name] = key
    return found


def list_levels(stream: Stream, catalog: Catalog) -> Iterator[tuple[Stream, Preceding]]:
    """The streams that a stream of rows is made of, itself first, each with what its rows meet, and
    as long as they are the same rows in the same order: none is left out, but where its key has no
    value, or given later."""
    while (meeting := catalog.preceding.get(stream.name)) is not None:
        yield stream, meeting
        only = set() if meeting.only is None else {*fields_of(meeting.only)}
        below = catalog.preceding.get(meeting.base)
        same = below is not None and below.only == meeting.only  # it leaves none out again
        if meeting.after or not (same or only <= {*meeting.key}):
            return
        stream = catalog.streams[meeting.base]


def _is_finite(stream: Stream, name: str) -> bool:
    column = stream.column(name)
    return column is not None and (column.enum is not None or column.maximum is not None)


def _rises(counted: Counted, base: Stream) -> bool:
    match counted.function:
        case "count" | "max":
            return True
        case "sum":
            return counted.argument is not None and _is_positive(counted.argument, base)
        case _:
            return False


def _is_positive(made: Expression, base: Stream) -> bool:
    """Whether it is never below 0."""
    match made:
        case Value(value=value):
            return value is None or (not isinstance(value, str) and value >= 0)
        case Field(column=column):
            known = base.column(column)
            low = None if known is None else known.minimum
            return isinstance(low, int | float) and low >= 0
        case Case(branches=branches, otherwise=otherwise):
            return all(_is_positive(e, base) for e in (otherwise, *(v for _, v in branches)))
        case Call(function=Function.COALESCE, arguments=arguments):
            return all(_is_positive(e, base) for e in arguments)
        case Call(function=Function.ABS):
            return True
        case Call(function=Function.CAST | Function.TRY_CAST, arguments=(of,)):
            return isinstance(of.type, BooleanType)
        case _:
            return False
