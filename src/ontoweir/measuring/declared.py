"""Declarations that measured data keep, as a closed union: in a catalog, and in a project file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from ontoweir.edit.edit_project import (
    add_cluster,
    add_key,
    add_lag,
    add_order,
    add_reference,
    edit_column,
    set_lateness,
    set_nullable,
    set_rate,
)
from ontoweir.mappings.model.catalog import Catalog, ClosingRule, Column, Lag, Reference, Stream
from ontoweir.mappings.model.parse_duration import UNITS_US, show_duration


@dataclass(frozen=True, slots=True)
class SetLateness:
    """How late rows of a stream may come."""

    stream: str
    lateness_us: int


@dataclass(frozen=True, slots=True)
class SetRate:
    """How many rows of a stream share a timestamp at most."""

    stream: str
    rows: int


@dataclass(frozen=True, slots=True)
class SetDomain:
    """The values of a stream's column; the column as it is to be declared."""

    stream: str
    column: Column


@dataclass(frozen=True, slots=True)
class AddKey:
    """Columns that tell a stream's rows apart."""

    stream: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddReference:
    """A column of a stream has values of a static relation's key."""

    stream: str
    reference: Reference


@dataclass(frozen=True, slots=True)
class AddCluster:
    """All rows of a stream with one value of a column lie within a span of time."""

    stream: str
    column: str
    within_us: int


@dataclass(frozen=True, slots=True)
class AddGap:
    """Consecutive rows of a stream with one value of a column lie within a gap of time; `most`: so
    many have one value (None: nothing is said)."""

    stream: str
    column: str
    gap_us: int
    most: int | None = None


@dataclass(frozen=True, slots=True)
class AddRows:
    """At most so many rows of a stream come between consecutive ones with one value of a column."""

    stream: str
    column: str
    rows: int


@dataclass(frozen=True, slots=True)
class AddOrder:
    """The values of a stream's column come in their order; `slack`: but for so many, or days; or,
    where they are `counted`, but for so many rows after a greater one."""

    stream: str
    column: str
    slack: int
    days: bool = False
    counted: bool = False


@dataclass(frozen=True, slots=True)
class AddLag:
    """Rows of a stream come within a span of time after those of another that they join."""

    stream: str
    lag: Lag


@dataclass(frozen=True, slots=True)
class SetNullable:
    """A column of a stream, or of a static relation (`static`), is NULL in some rows: they are
    shown."""

    stream: str
    column: str
    static: bool = False


Declared: TypeAlias = (
    SetLateness
    | SetRate
    | SetDomain
    | AddKey
    | AddReference
    | AddCluster
    | AddGap
    | AddRows
    | AddOrder
    | AddLag
    | SetNullable
)
"""One declaration."""


def declare_in(catalog: Catalog, declarations: Sequence[Declared]) -> Catalog:
    """A catalog with more declared."""
    streams, relations = dict(catalog.streams), dict(catalog.relations)
    for declared in declarations:
        name = declared.stream
        if isinstance(declared, SetNullable) and declared.static:
            columns = _show_null(relations[name].columns, declared.column)
            relations[name] = replace(relations[name], columns=columns)
        else:
            streams[name] = _declare(streams[name], declared)
    return replace(catalog, streams=streams, relations=relations)


def _show_null(columns: Sequence[Column], name: str) -> tuple[Column, ...]:
    return tuple(replace(c, nullable=True) if c.name == name else c for c in columns)


def _declare(stream: Stream, declared: Declared) -> Stream:
    match declared:
        case SetLateness(lateness_us=lateness):
            return replace(stream, lateness_us=lateness)
        case SetRate(rows=rows):
            return replace(stream, max_per_timestamp=rows)
        case SetDomain(column=column):
            columns = tuple(
                replace(column, nullable=c.nullable) if c.name == column.name else c
                for c in stream.columns
            )
            return replace(stream, columns=columns)
        case SetNullable(column=name):
            return replace(stream, columns=_show_null(stream.columns, name))
        case AddKey(columns=key):
            return replace(stream, keys=(*stream.keys, key))
        case AddReference(reference=reference):
            return replace(stream, references=(*stream.references, reference))
        case AddCluster(column=name, within_us=within):
            rule = Lag(stream.name, (name,), (name,), within, stream.source)
            return replace(stream, lags=(*stream.lags, rule))
        case AddLag(lag=lag):
            return replace(stream, lags=(*stream.lags, lag))
        case AddGap(column=name, gap_us=gap, most=most):
            closing = ClosingRule((name,), gap_us=gap, source=stream.source, most_rows=most)
            return replace(stream, closing=(*stream.closing, closing))
        case AddRows(column=name, rows=rows):
            closing = ClosingRule((name,), rows=rows, source=stream.source)
            return replace(stream, closing=(*stream.closing, closing))
        case AddOrder(column=name, slack=slack, counted=True):
            closing = ClosingRule((name,), late_rows=slack, source=stream.source)
            return replace(stream, closing=(*stream.closing, closing))
        case AddOrder(column=name, slack=slack):
            closing = ClosingRule((name,), slack=slack, source=stream.source)
            return replace(stream, closing=(*stream.closing, closing))
        case _:
            assert_never(declared)


def write_in(text: str, declared: Declared) -> str | None:
    """The text of a project file with it; None where no small change says it."""
    match declared:
        case SetLateness(stream=name, lateness_us=lateness):
            return set_lateness(text, name, show_duration(lateness))
        case SetRate(stream=name, rows=rows):
            return set_rate(text, name, rows)
        case SetDomain(stream=name, column=column):
            return edit_column(text, name, column)
        case AddKey(stream=name, columns=key):
            return add_key(text, name, key)
        case AddReference(stream=name, reference=reference):
            return add_reference(text, name, reference)
        case AddCluster(stream=name, column=column, within_us=within):
            return add_cluster(text, name, column, "within", show_duration(within))
        case AddGap(stream=name, column=column, gap_us=gap, most=most):
            return add_cluster(text, name, column, "gap", show_duration(gap), most)
        case AddRows(stream=name, column=column, rows=rows):
            return add_cluster(text, name, column, "rows", rows)
        case AddLag(stream=name, lag=lag):
            return add_lag(text, name, lag)
        case AddOrder(stream=name, column=column, slack=rows, counted=True):
            return add_order(text, name, column, rows, key="rows")
        case AddOrder(stream=name, column=column, slack=slack, days=days):
            length = show_duration(slack * UNITS_US["day"])
            return add_order(text, name, column, length if days else slack)
        case SetNullable(stream=name, column=column, static=static):
            return set_nullable(text, "relations" if static else "streams", name, column)
        case _:
            assert_never(declared)
