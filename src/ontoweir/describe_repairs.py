"""Repairs for people: what to do, where, and the lines to paste."""

from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from ontoweir.checker.changes import (
    AddOrder,
    AddWindow,
    Change,
    DeclareDomain,
    DeclareReference,
    DropVariable,
    SetDistinct,
    bound_column,
)
from ontoweir.errors import Source
from ontoweir.mappings.catalog import Catalog, Column, FloatType, Scalar, Stream
from ontoweir.mappings.column_types import name_column_type
from ontoweir.mappings.parse_duration import UNITS_US
from ontoweir.rewriter.spj import SpjUnion


@dataclass(frozen=True, slots=True)
class Action:
    """A change: a sentence, the file (and line, where something is there to be replaced), and
    the lines to write."""

    text: str
    source: Source
    lines: tuple[str, ...]


def describe_change(change: Change, union: SpjUnion, catalog: Catalog, *, sql: bool) -> Action:
    """A change in terms of the user's files; `sql`: the query is plain SQL, not SPARQL."""
    query = Source(union.source.file) if union.source is not None else Source(union.name)
    match change:
        case DeclareDomain(stream=name, column=column):
            return _domain(catalog.streams[name], column, catalog)
        case DeclareReference(stream=name, column=column, relation=relation, to=to):
            stream = catalog.streams[name]
            known = [_reference(r.columns, r.relation, r.to) for r in stream.references]
            entries = [*known, _reference((column,), relation, (to,))]
            return Action(
                f"declare that {name}.{column} is always a {relation}.{to}",
                stream.source or Source(catalog.file),
                (f"references = [{', '.join(entries)}]  # in [streams.{name}]",),
            )
        case AddWindow(earlier=earlier, later=later, steps=steps):
            step_us = max(s.step_us for s in catalog.streams.values())
            if sql:
                text = f"AND {_time(later, union, catalog)} <= {_time(earlier, union, catalog)} + "
                line = f"{text}INTERVAL '{_count(steps * step_us)}"
            else:
                length = _iso(steps * step_us)
                line = f'FILTER(?{later} - ?{earlier} <= "{length}"^^xsd:dayTimeDuration)'
            shown = (earlier, later) if sql else (f"?{earlier}", f"?{later}")
            return Action(
                f"limit the time from {shown[0]} to {shown[1]} by a window", query, (line,)
            )
        case AddOrder(earlier=earlier, later=later):
            if sql:
                times = (_time(earlier, union, catalog), _time(later, union, catalog))
                line = f"AND {times[0]} < {times[1]}"
            else:
                line = f"FILTER(?{earlier} < ?{later})"
            shown = (earlier, later) if sql else (f"?{earlier}", f"?{later}")
            return Action(f"ask for {shown[0]} before {shown[1]}", query, (line,))
        case DropVariable(name=name):
            kept = [v for v in union.variables if v != name]
            head = ", ".join(kept) if sql else " ".join(f"?{v}" for v in kept)
            distinct = "DISTINCT " if union.distinct else ""
            shown_name = name if sql else f"?{name}"
            return Action(f"do not select {shown_name}", query, (f"SELECT {distinct}{head}",))
        case SetDistinct(distinct=distinct):
            head = ", ".join(union.variables) if sql else " ".join(f"?{v}" for v in union.variables)
            if distinct:
                text = "select DISTINCT: whether, not how often"
                return Action(text, query, (f"SELECT DISTINCT {head}",))
            return Action("select without DISTINCT: how often", query, (f"SELECT {head}",))
        case _:
            assert_never(change)


def _domain(stream: Stream, name: str, catalog: Catalog) -> Action:
    column = stream.column(name)
    assert column is not None
    made = bound_column(column)
    source = column.source or stream.source or Source(catalog.file)
    what = f"{stream.name}.{name}"
    if made.enum is not None:
        return Action(
            f"list the values of {what}",
            source,
            (f"{name} = {{ {_type(made)}, enum = {_toml(made.enum)} }}  # the values it can take",),
        )
    line = f"{name} = {{ {_type(made)}, min = {_toml(made.minimum)}, max = {_toml(made.maximum)} }}"
    text = f"declare the least and the greatest value of {what}"
    if isinstance(column.type, FloatType):
        text = f"declare {what} as a decimal (a float has no finite range), with its limits"
    return Action(text, source, (f"{line}  # the limits it keeps",))


def _type(column: Column) -> str:
    return f'type = "{name_column_type(column.type)}"'


def _reference(columns: tuple[str, ...], relation: str, to: tuple[str, ...]) -> str:
    return f'{{ columns = {_toml(columns)}, relation = "{relation}", to = {_toml(to)} }}'


def _toml(value: Scalar | tuple[Scalar, ...] | None) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _time(alias: str, union: SpjUnion, catalog: Catalog) -> str:
    tables = {o.alias: o.table for q in union.disjuncts for o in q.occurrences}
    return f"{alias}.{catalog.streams[tables[alias]].timestamp}"


def _count(microseconds: int) -> str:
    """A duration for SQL: `1' HOUR`."""
    unit = next(
        u
        for u in ("day", "hour", "minute", "second", "microsecond")
        if microseconds % UNITS_US[u] == 0
    )
    return f"{microseconds // UNITS_US[unit]}' {unit.upper()}"


def _iso(microseconds: int) -> str:
    """An xsd:dayTimeDuration: `PT1H`."""
    length = timedelta(microseconds=microseconds)
    hours, rest = divmod(length.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{length.microseconds:06d}".rstrip("0") if length.microseconds else ""
    parts = [
        f"{hours}H" if hours else "",
        f"{minutes}M" if minutes else "",
        f"{seconds}{fraction}S" if seconds or fraction else "",
    ]
    days = f"{length.days}D" if length.days else ""
    time = "".join(parts)
    return f"P{days}" + (f"T{time}" if time else "")
