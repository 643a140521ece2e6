"""Changes to a query or a catalog that can make a query bounded, as a closed union."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import TypeAlias, assert_never

from ontoweir.checker.model.list_valued import list_valued
from ontoweir.mappings.model.catalog import (
    Catalog,
    ClosingRule,
    Column,
    DateType,
    DecimalType,
    FloatType,
    Reference,
    Scalar,
    Stream,
    StringType,
)
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import Attribute, Compare, Op, SpjQuery, SpjUnion
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.views.redeclare_views import redeclare_views

NUMBERS = 1000
"""How many numbers a range is tried with: whether it is bounded does not depend on them."""
DAYS = 10_958
FIRST_DAY = date(2000, 1, 1)
VALUES = ("value 1", "value 2", "value 3")
SCALE = 2
GAP_US = 30 * 60 * 1_000_000
"""The gap of a session that is tried."""
ROWS = 1000
"""How many rows of a value are tried."""


@dataclass(frozen=True, slots=True)
class DeclareDomain:
    """Declare the values of a stream's column: a range, for strings an enumeration; a float
    becomes a decimal with a range. `start`: where a range of numbers begins."""

    stream: str
    column: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class DeclareReference:
    """Declare that a stream's column holds values of a static relation's key."""

    stream: str
    column: str
    relation: str
    to: str


@dataclass(frozen=True, slots=True)
class DeclareKey:
    """Declare that columns tell a stream's rows apart, so that rows which agree on them are one."""

    stream: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeclareGap:
    """Declare that consecutive rows of a stream with one value of a column are near each other, as
    those of a session are; `few`: and that a value has few rows."""

    stream: str
    column: str
    few: bool = False


@dataclass(frozen=True, slots=True)
class DeclareFew:
    """Declare that values of columns have few rows until they are closed, by a rule on these that
    is declared (`find_rule`)."""

    stream: str
    columns: tuple[str, ...]


WINDOW = 10
"""So many steps a window is long at least, as an example."""


@dataclass(frozen=True, slots=True)
class AddWindow:
    """`later - earlier <= steps`, between two times of the query."""

    earlier: str
    later: str
    steps: int = WINDOW


@dataclass(frozen=True, slots=True)
class AddOrder:
    """`earlier < later`, between two times of the query."""

    earlier: str
    later: str


@dataclass(frozen=True, slots=True)
class DropVariable:
    """Do not select a variable."""

    name: str


@dataclass(frozen=True, slots=True)
class DropGroup:
    """Group by a variable less: the groups are coarser."""

    name: str


@dataclass(frozen=True, slots=True)
class LeaveNulls:
    """Leave out rows in which a variable of GROUP BY is NULL, whose group no rule closes."""

    name: str


@dataclass(frozen=True, slots=True)
class SetDistinct:
    """SELECT DISTINCT (True) instead of SELECT, or the other way round."""

    distinct: bool


Change: TypeAlias = (
    DeclareKey
    | DeclareDomain
    | DeclareReference
    | DeclareGap
    | DeclareFew
    | AddWindow
    | AddOrder
    | DropVariable
    | DropGroup
    | LeaveNulls
    | SetDistinct
)
"""One change."""


def rank_change(change: Change) -> int:
    """How unlikely a change is to be what a person wants.

    A reference says what is known of the data, to a relation that is there. A window, rows that
    have a value, DISTINCT and coarser groups ask for something that is as useful. What is declared
    without a sign of it in the catalog, a key or a range, is most often not so: values are
    measured, and names grow. It comes after them, and after what completes a rule that is declared;
    but before an answer with a part less.
    """
    match change:
        case DeclareReference():
            return 0
        case AddWindow() | LeaveNulls():
            return 1
        case SetDistinct() | DropGroup():
            return 2
        case AddOrder() | DeclareKey() | DeclareFew():
            return 3
        case DeclareDomain() | DeclareGap():
            return 4
        case DropVariable():
            return 5
        case _:
            assert_never(change)


def name_times(query: SpjQuery, catalog: Catalog) -> dict[str, str]:
    """The time of stream occurrences, by alias: the query's variable, or the alias itself where
    the query is plain SQL; those of which SPARQL has no variable are left out."""
    known = {alias: p.time for alias, p in query.provenance if p.time is not None}
    unnamed = {alias for alias, _ in query.provenance} - set(known)
    streams = (o.alias for o in query.occurrences if o.table in catalog.streams)
    return {alias: known.get(alias, alias) for alias in streams if alias not in unnamed}


def apply_change(change: Change, union: SpjUnion, catalog: Catalog) -> tuple[SpjUnion, Catalog]:
    """The union and the catalog after a change."""
    match change:
        case DeclareDomain() | DeclareReference() | DeclareKey() | DeclareGap() | DeclareFew():
            changed = _declare(change, catalog)
            if isinstance(change, DeclareKey):
                whole = extend_catalog(changed, union)
                merged = tuple(remove_self_joins(q, whole) for q in union.disjuncts)
                union = replace(union, disjuncts=merged)
            return redeclare_views(union, changed), changed
        case AddWindow(earlier=earlier, later=later, steps=steps):
            return _compare_times(union, catalog, later, Op.LE, earlier, steps), catalog
        case AddOrder(earlier=earlier, later=later):
            return _compare_times(union, catalog, earlier, Op.LT, later, 0), catalog
        case DropVariable(name=name):
            kept = tuple(v for v in union.variables if v != name)
            disjuncts = tuple(
                replace(q, outputs=tuple((v, o) for v, o in q.outputs if v != name))
                for q in union.disjuncts
            )
            return replace(union, variables=kept, disjuncts=disjuncts), catalog
        case DropGroup(name=name):
            return _without_group(union, name), catalog
        case LeaveNulls(name=name):
            return replace(union, disjuncts=list_valued(union, (name,))), catalog
        case SetDistinct(distinct=distinct):
            return replace(union, distinct=distinct), catalog
        case _:
            assert_never(change)


def _declare(
    change: DeclareDomain | DeclareReference | DeclareKey | DeclareGap | DeclareFew,
    catalog: Catalog,
) -> Catalog:
    """The catalog with a declaration more."""
    match change:
        case DeclareDomain(stream=name, column=column, start=start):
            stream = catalog.streams[name]
            columns = tuple(
                bound_column(c, start) if c.name == column else c for c in stream.columns
            )
            return _with(catalog, replace(stream, columns=columns))
        case DeclareReference(stream=name, column=column, relation=relation, to=to):
            stream = catalog.streams[name]
            reference = Reference((column,), relation, (to,))
            references = (*stream.references, reference)
            return _with(catalog, replace(stream, references=references))
        case DeclareKey(stream=name, columns=key):
            stream = catalog.streams[name]
            return _with(catalog, replace(stream, keys=(*stream.keys, key)))
        case DeclareGap(stream=name, column=column, few=few):
            stream = catalog.streams[name]
            gap = -(-GAP_US // stream.grid_us) * stream.grid_us
            most = ROWS if few else None
            rule = ClosingRule((column,), gap_us=gap, source=stream.source, most_rows=most)
            return _with(catalog, replace(stream, closing=(*stream.closing, rule)))
        case DeclareFew(stream=name, columns=named):
            stream = catalog.streams[name]
            known = find_rule(stream, named)
            rules = (replace(r, most_rows=ROWS) if r is known else r for r in stream.closing)
            return _with(catalog, replace(stream, closing=tuple(rules)))
        case _:
            assert_never(change)


def find_rule(stream: Stream, columns: tuple[str, ...]) -> ClosingRule | None:
    """The rule that closes the values of columns, of which any number of rows may have the same."""
    return next((r for r in list_wide(stream, columns[0]) if r.columns == columns), None)


def list_wide(stream: Stream, column: str) -> list[ClosingRule]:
    """The rules that close the values of a column, and others, of which any number of rows may have
    the same."""
    closing = (r for r in stream.closing if r.span_us is None and r.most_rows is None)
    return [r for r in closing if column in r.columns]


def _without_group(union: SpjUnion, name: str) -> SpjUnion:
    assert union.aggregation is not None
    aggregation = replace(
        union.aggregation,
        group=tuple(v for v in union.aggregation.group if v != name),
        columns=tuple(v for v in union.aggregation.columns if v != name),
    )
    kept = (*aggregation.variables, *union.ends, *union.begins)
    disjuncts = tuple(
        replace(q, outputs=tuple((v, o) for v, o in q.outputs if v in kept))
        for q in union.disjuncts
    )
    return replace(union, variables=kept, disjuncts=disjuncts, aggregation=aggregation)


def bound_column(column: Column, start: int = 0) -> Column:
    """A column with a domain, as DeclareDomain declares it; a limit that it has is kept."""
    low, high = column.minimum, column.maximum
    match column.type:
        case StringType():
            return replace(column, enum=VALUES)
        case DateType():
            low, high = _days(low, high)
            return replace(column, minimum=low, maximum=high)
        case _:
            first, last = (None if x is None else Decimal(str(x)) for x in (low, high))
    if first is None:
        first = Decimal(start) if last is None else min(Decimal(start), last - NUMBERS + 1)
    if last is None:
        last = max(Decimal(start), first) + NUMBERS - 1
    kind = column.type
    if isinstance(kind, FloatType):
        digits = len(str(int(max(abs(first), abs(last)))))
        kind = DecimalType(digits + SCALE, SCALE)
    elif isinstance(kind, DecimalType):
        most = Decimal(10) ** (kind.precision - kind.scale) - 1
        first, last = max(first, -most), min(last, most)
    return replace(column, type=kind, minimum=_number(first), maximum=_number(last))


def _number(value: Decimal) -> Scalar:
    return int(value) if value == value.to_integral_value() else value


def _days(low: Scalar | None, high: Scalar | None) -> tuple[str, str]:
    """Both ends of a range of days."""
    first = None if low is None else date.fromisoformat(str(low))
    last = None if high is None else date.fromisoformat(str(high))
    if first is None:
        first = FIRST_DAY if last is None else min(FIRST_DAY, last - timedelta(DAYS - 1))
    if last is None:
        last = max(first, FIRST_DAY) + timedelta(DAYS - 1)
    return first.isoformat(), last.isoformat()


def _with(catalog: Catalog, stream: Stream) -> Catalog:
    streams: Mapping[str, Stream] = {**catalog.streams, stream.name: stream}
    return replace(catalog, streams=streams)


def _compare_times(
    union: SpjUnion, catalog: Catalog, left: str, op: Op, right: str, offset: int
) -> SpjUnion:
    catalog = extend_catalog(catalog, union)
    disjuncts = []
    for query in union.disjuncts:
        names = name_times(query, catalog)
        tables = {o.alias: o.table for o in query.occurrences}

        def attribute(
            time: str, names: Mapping[str, str] = names, tables: Mapping[str, str] = tables
        ) -> Attribute | None:
            alias = next((a for a, n in names.items() if n == time), None)
            if alias is None:
                return None
            return Attribute(alias, catalog.streams[tables[alias]].timestamp)

        a, b = attribute(left), attribute(right)
        if a is None or b is None:
            disjuncts.append(query)
        else:
            more = Compare(a, op, b, offset)
            disjuncts.append(replace(query, conditions=(*query.conditions, more)))
    return replace(union, disjuncts=tuple(disjuncts))
