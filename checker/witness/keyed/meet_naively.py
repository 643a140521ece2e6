"""Rows with what the rows before them say, or with the version of their time, computed naively."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ontoweir.checker.witness.keyed.compute import UnknownAnswerError, compute, write_time
from ontoweir.mappings.model.catalog import (
    Catalog,
    FloatType,
    IntType,
    KeyConstant,
    Meeting,
    Stream,
)
from ontoweir.mappings.model.preceding import Counted, Preceding

_Row: TypeAlias = dict[str, Any]


def meet_naively(
    meeting: Meeting | Preceding, catalog: Catalog, rows: Callable[[str], Sequence[_Row]]
) -> Iterator[_Row]:
    """The rows of a block.

    Args:
        meeting: what they meet.
        catalog: with the tables that it reads.
        rows: the rows of a table, with times in its steps.

    Raises:
        UnknownAnswerError: they are not computed here; or which of two rows of a time is the
            latest is not known.
    """
    base = catalog.streams[meeting.base]
    mine = [dict(row) for row in rows(meeting.base)]
    if isinstance(meeting, Meeting):
        versions = catalog.streams[meeting.versions.stream]
        return _meet_versions(meeting, base, versions, mine, rows(versions.name))
    return _precede(meeting, base, mine)


def _meet_versions(
    meeting: Meeting, base: Stream, versions: Stream, rows: Sequence[_Row], held: Sequence[_Row]
) -> Iterator[_Row]:
    of = meeting.versions
    if of.whole:
        raise UnknownAnswerError
    if of.only is not None:
        held = [v for v in held if compute(of.only, _write(v, versions)) is True]
    for row in rows:
        wanted = [
            (own.value if isinstance(own, KeyConstant) else row.get(own), column)
            for own, column in meeting.key
        ]
        at_us = row[base.timestamp] * base.step_us
        known = [
            v
            for v in held
            if all(value is not None and v.get(column) == value for value, column in wanted)
            and _is_before(v[versions.timestamp] * versions.step_us, at_us, of.earlier)
        ]
        last = max((v[versions.timestamp] for v in known), default=None)
        latest = [v for v in known if v[versions.timestamp] == last]
        if len(latest) > 1:
            raise UnknownAnswerError
        met = latest[0] if latest and not (of.delete and latest[0].get(of.delete)) else None
        if met is None and not of.optional:
            continue
        content = (
            {}
            if met is None
            else _write(met, versions)
            | ({} if of.time is None else {of.time: write_time((last or 0) * versions.step_us)})
        )
        yield row | {name: content.get(column) for column, name in meeting.columns}


def _is_before(version_us: int, row_us: int, earlier: bool) -> bool:
    return version_us < row_us if earlier else version_us <= row_us


def _write(row: Mapping[str, Any], stream: Stream) -> _Row:
    return {**row, stream.timestamp: write_time(row[stream.timestamp] * stream.step_us)}


def _precede(meeting: Preceding, base: Stream, rows: Sequence[_Row]) -> Iterator[_Row]:
    if meeting.after or meeting.within or meeting.run:
        raise UnknownAnswerError
    rows = sorted(rows, key=lambda row: row[base.timestamp])
    if meeting.only is not None:
        rows = [row for row in rows if compute(meeting.only, _write(row, base)) is True]
    earlier: dict[tuple[Any, ...], list[_Row]] = {}
    for row in rows:
        mine = earlier.setdefault(tuple(row.get(n) for n in meeting.key), [])
        if mine and mine[-1][base.timestamp] == row[base.timestamp]:
            raise UnknownAnswerError  # their order is not known
        mine.append(row)
        yield row | {c.name: _count(c, mine, base) for c in meeting.columns}


def _count(counted: Counted, rows: Sequence[_Row], base: Stream) -> Any:
    """A column of the last of some rows of one key, each of another time."""
    if counted.order or counted.last < 0:
        raise UnknownAnswerError
    last = len(rows) - 1
    begin = 0 if counted.first is None else max(0, last - counted.first)
    now = rows[last][base.timestamp]
    frame = []
    for place, row in enumerate(rows):
        ago_us = (now - row[base.timestamp]) * base.step_us
        near = counted.span_us is None or ago_us <= counted.span_us
        if begin <= place <= last - counted.last and ago_us >= counted.until_us and near:
            frame.append(row)
    argument = counted.argument
    values = [1 if argument is None else compute(argument, _write(row, base)) for row in frame]
    known = [v for v in values if v is not None]
    match counted.function:
        case "first":
            return values[0] if values else None
        case "known":
            return known[-1] if known else None
        case "count":
            return len(known)
        case "sum":
            return _as_type(sum(map(Fraction, known)), counted) if known else None
        case "avg":
            return _as_type(sum(map(Fraction, known)) / len(known), counted) if known else None
        case "min":
            return min(known, default=None)
        case "max":
            return max(known, default=None)
        case _:
            raise UnknownAnswerError


def _as_type(number: Any, counted: Counted) -> Any:
    if isinstance(counted.type, FloatType):
        return float(number)
    return int(number) if isinstance(counted.type, IntType) else number
