"""The columns of groups' rows, as those of a stream: their types, and where their values are."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    IntType,
    Reference,
    Stream,
)
from ontoweir.mappings.model.expression import Field
from ontoweir.rewriter.groups.type_group_row import type_group_row
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.model.spj import (
    Attribute,
    LiteralOutput,
    NullOutput,
    SpjUnion,
    ViewBranch,
)
from ontoweir.rewriter.nulls.list_nullable_names import list_nullable_names
from ontoweir.rewriter.views.declare_view import declare_stream


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """`columns`: of the groups' rows; `stream`: of the matches, with the columns that are grouped,
    and that MIN and MAX are of; `of`: the name there of each variable, and of what has its domain.
    """

    columns: tuple[Column, ...]
    stream: Stream
    of: Mapping[str, str]

    def named(self, column: str) -> str:
        """The variable of a column of the matches."""
        return next((n for n, of in self.of.items() if of == column), "")

    @property
    def references(self) -> tuple[Reference, ...]:
        """What is declared of the columns that rows have."""
        shown = {c.name for c in self.columns}
        return tuple(
            Reference((self.named(r.columns[0]),), r.relation, r.to)
            for r in self.stream.references
            if self.named(r.columns[0]) in shown
        )


def declare_groups(
    union: SpjUnion,
    stamps: Sequence[Attribute],
    hidden: Set[str],
    tuples: int | None,
    catalog: Catalog,
) -> GroupColumns:
    """The columns of the rows of an aggregate query's groups.

    Args:
        union: an aggregate query.
        stamps: of each disjunct, an attribute of the row of a stream whose time a match has.
        hidden: columns of the result that are none of the stream.
        tuples: the most matches of a group (None: any number).
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    assert union.aggregation is not None
    stream, of = _list_domains(union, stamps, catalog)
    known = {c.name: c for c in stream.columns}
    types, null = _list_types(union, catalog), list_nullable_names(union, catalog)
    counts = {a.name: _domain_of_count(a, types[a.name], tuples) for a in _counts(union)}
    shown_as = {n: known.get(of_) for n, of_ in of.items()}
    columns = tuple(
        counts.get(n) or replace(_with_domain(n, types[n], shown_as.get(n)), nullable=n in null)
        for n in union.aggregation.columns
        if n not in hidden
    )
    return GroupColumns(columns, stream, of)


def _list_types(union: SpjUnion, catalog: Catalog) -> dict[str, ColumnType]:
    """The types of all columns of a group's row, and of what is computed of it."""
    assert union.aggregation is not None
    fields = type_group_row(union, catalog, terms=False)
    types = {n: f.type for n, f in fields.items() if isinstance(f, Field)}
    return types | {name: made.type for name, made in union.aggregation.computed}


def _list_domains(
    union: SpjUnion, stamps: Sequence[Attribute], catalog: Catalog
) -> tuple[Stream, dict[str, str]]:
    """The domains of the group's variables, and of what MIN and MAX are of."""
    aggregation = union.aggregation
    assert aggregation is not None
    extremes = {
        a.name: a.argument
        for a in aggregation.aggregates
        if a.function in (AggregateFunction.MIN, AggregateFunction.MAX) and a.argument is not None
    }
    wanted = [
        n
        for n in dict.fromkeys((*aggregation.group, *extremes.values()))
        if all(isinstance(dict(q.outputs)[n], LiteralOutput | NullOutput) for q in union.disjuncts)
    ]
    branches = []
    for query, time in zip(union.disjuncts, stamps, strict=True):
        outputs = dict(query.outputs)
        of = {o.alias: o.table for o in query.occurrences}
        attributes = tuple(
            output.value
            for n in wanted
            if isinstance(output := outputs[n], LiteralOutput | NullOutput)
        )
        stamp = Attribute(time.alias, catalog.streams[of[time.alias]].timestamp)
        branches.append(ViewBranch(query.occurrences, query.conditions, attributes, stamp))
    stream = declare_stream("", branches, catalog, distinct=False)
    names = dict(zip(wanted, (c.name for c in stream.columns), strict=True))
    names |= {name: names[a] for name, a in extremes.items() if a in names}
    return stream, names


def _with_domain(name: str, kind: ColumnType, known: Column | None) -> Column:
    if known is None:
        return Column(name, kind)
    return Column(name, kind, known.minimum, known.maximum, known.enum)


def _counts(union: SpjUnion) -> list[Aggregate]:
    assert union.aggregation is not None
    counts = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)
    return [a for a in union.aggregation.aggregates if a.function in counts]


def _domain_of_count(aggregate: Aggregate, kind: ColumnType, tuples: int | None) -> Column:
    return Column(aggregate.name, kind, minimum=int(aggregate.argument is None), maximum=tuples)


def limit_groups(columns: Sequence[Column], expected: int, tuples: int | None) -> int | None:
    """The most groups that are final at one time: as many as their other columns have values, NULL
    included; or as tuples lie in a bucket (None: any number).

    Args:
        columns: those of the group that rows show.
        expected: how many columns the group has.
        tuples: the most tuples (None: any number).
    """
    sizes = [count_values(c) for c in columns]
    product: int | None = 1
    for size in sizes:
        product = None if product is None or size is None else product * (size + 1)
    if len(sizes) < expected:
        product = None
    known = [n for n in (product, tuples) if n is not None]
    return min(known, default=None)


def count_values(column: Column) -> int | None:
    """How many values a column may have, where they are few for certain."""
    if column.enum is not None:
        return len(column.enum)
    if isinstance(column.type, BooleanType):
        return 2
    low, high = column.minimum, column.maximum
    if isinstance(column.type, IntType) and isinstance(low, int) and isinstance(high, int):
        return high - low + 1
    return None
