"""The stream that the final answers of a query are, and what follows for it."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import gcd

from ontoweir.mappings.model.catalog import (
    ANSWERS,
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    IntType,
    Lag,
    Stream,
)
from ontoweir.mappings.model.expression import Field
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets, Moments, TimeBucket
from ontoweir.rewriter.buckets.find_closing import Closing, bucket_of, find_closing
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

AT = "at"
"""The timestamp of a stream of answers."""
_HOUR_US, _DAY_US = 3_600_000_000, 86_400_000_000


@dataclass(frozen=True, slots=True)
class DeclaredBlock:
    """`stream`: the answers; `behind_us`: the columns of the answers that are times so long before
    the timestamp, and so no columns of the stream; `apart`: two buckets are never final at one
    time."""

    stream: Stream
    behind_us: Mapping[str, int]
    apart: bool = False


def declare_block(union: SpjUnion, name: str, catalog: Catalog) -> DeclaredBlock | None:
    """What follows for the answers of a query, as a stream; None: they are not final.

    Their types; the domains of the columns that are grouped, and of MIN, MAX and COUNT; the group
    as a key; how long after others' rows they come; how many are final at one time, where that is
    limited; and where a bucket begins and ends, if it is of a fixed width and the query reads one
    stream: then a group is final when its bucket ends.

    Args:
        union: an aggregate query.
        name: what the stream is called.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    assert union.aggregation is not None
    closing = find_closing(union, catalog)
    if closing is None or union.ends or union.begins:
        return None
    of = {o.alias: o.table for o in union.disjuncts[0].occurrences}
    base = catalog.streams[of[closing.attributes[0].alias]]
    behind = _find_times(union, closing, base.step_us, catalog)
    types = _list_types(union, catalog)
    domains = _list_domains(union, closing, catalog)
    tuples = _count_tuples(union, closing, catalog)
    counts = {a.name: _domain_of_count(a, types[a.name], tuples) for a in _counts(union)}
    null = list_nullable_names(union, catalog)
    shown_as = {n: domains.columns.get(of_) for n, of_ in domains.of.items()}
    columns = tuple(
        counts.get(n) or replace(_with_domain(n, types[n], shown_as.get(n)), nullable=n in null)
        for n in union.aggregation.columns
        if n not in behind
    )
    rest = [n for n in union.aggregation.group if n != closing.variable and n not in behind]
    apart = _shortest_us(closing.bucket) >= base.step_us
    key = (*rest, AT) if apart else tuple(n for n in union.aggregation.row if n not in behind)
    shown = {c.name for c in columns}
    keys = ((*key, AT) if AT not in key else key,)
    references = [r for r in domains.stream.references if domains.named(r.columns[0]) in shown]
    return DeclaredBlock(
        Stream(
            name,
            ANSWERS,
            AT,
            base.step_us,
            _limit_groups([c for c in columns if c.name in rest], len(rest), tuples, apart=apart),
            columns,
            keys if apart and set(rest) <= shown else (),
            tuple(type(r)((domains.named(r.columns[0]),), r.relation, r.to) for r in references),
            base.source,
            lags=tuple(_list_lags(union, closing, domains, shown, catalog)),
            unit_us=_find_unit(union, closing, base.step_us, catalog),
        ),
        behind,
        apart,
    )


def _list_lags(
    union: SpjUnion, closing: Closing, domains: "_Domains", shown: Set[str], catalog: Catalog
) -> Iterator[Lag]:
    """How long after the rows of others a group is final that joins them by what it is grouped by:
    as long after as its rows come, and what is left of their bucket, in whole steps."""
    assert union.aggregation is not None
    if not _ends_at_once(union, catalog):
        return  # rows of a match wait for each other
    longest = closing.bucket.longest_us + closing.spread_us + domains.stream.step_us
    for lag in domains.stream.lags:
        names = tuple(map(domains.named, lag.columns))
        if shown >= set(names) and set(union.aggregation.group) >= set(names):
            within = lag.within_us + longest
            yield replace(lag, columns=names, within_us=within, rows=None, one=False)


def _list_types(union: SpjUnion, catalog: Catalog) -> dict[str, ColumnType]:
    """The types of all columns of a group's row, and of what is computed of it."""
    assert union.aggregation is not None
    fields = type_group_row(union, catalog, terms=False)
    types = {n: f.type for n, f in fields.items() if isinstance(f, Field)}
    return types | {name: made.type for name, made in union.aggregation.computed}


def _find_times(
    union: SpjUnion, closing: Closing, step_us: int, catalog: Catalog
) -> dict[str, int]:
    """The columns of a group's row that are so long before the time when it is final, in µs."""
    aggregation, bucket, after = union.aggregation, closing.bucket, closing.after_us
    assert aggregation is not None
    if not _ends_at_once(union, catalog) or not _is_aligned(bucket, step_us):
        return {}
    shown = set(aggregation.columns)
    if aggregation.panes is not None:
        sliding, panes = aggregation.panes.buckets, aggregation.panes
        found = {} if sliding.grows else {panes.variable: after + sliding.size_us}
        if panes.ends is not None:
            found[panes.ends] = after
        return {n: us for n, us in found.items() if n in shown}
    found = {}
    for name in aggregation.group:
        buckets = {b[1] for q in union.disjuncts if (b := bucket_of(q, name, catalog))}
        if len(buckets) != 1:
            continue
        (other,) = buckets
        if (other.buckets, other.behind_us) != (bucket.buckets, bucket.behind_us):
            continue
        if other.ends or isinstance(other.buckets, Moments):
            found[name] = after
        elif isinstance(other.buckets, FixedBuckets):
            found[name] = after + other.buckets.width_us
    return {n: us for n, us in found.items() if n in shown}


def _find_unit(union: SpjUnion, closing: Closing, step_us: int, catalog: Catalog) -> int | None:
    """Of which all times at which groups are final are multiples, if it is more than a step."""
    bucket = closing.bucket
    if not _ends_at_once(union, catalog) or not _is_aligned(bucket, step_us):
        return None
    if bucket.sliding is not None:
        parts = (bucket.sliding.slide_us, bucket.sliding.size_us, bucket.sliding.origin_us)
    elif isinstance(bucket.buckets, FixedBuckets):
        parts = (bucket.buckets.width_us, bucket.buckets.origin_us, 0)
    else:
        return None
    unit_us = gcd(*parts, closing.after_us)
    return unit_us if unit_us > step_us else None


def _ends_at_once(union: SpjUnion, catalog: Catalog) -> bool:
    """Whether a group is final when its bucket ends: no match has rows of other times."""
    return all(sum(o.table in catalog.streams for o in q.occurrences) == 1 for q in union.disjuncts)


def _is_aligned(bucket: TimeBucket, step_us: int) -> bool:
    """Whether buckets end at whole steps."""
    if bucket.sliding is not None:
        lengths = [bucket.sliding.slide_us, bucket.sliding.size_us]
        return not any(n % step_us for n in (*lengths, bucket.sliding.origin_us + bucket.behind_us))
    match bucket.buckets:
        case FixedBuckets(width_us=width, origin_us=origin):
            return width % step_us == 0 and (origin + bucket.behind_us) % step_us == 0
        case CalendarBuckets(zone=zone):
            return zone == "UTC" and _DAY_US % step_us == 0 and bucket.behind_us % step_us == 0
        case Moments():
            return True


def _shortest_us(bucket: TimeBucket) -> int:
    """The least time from the end of one bucket to that of the next."""
    if bucket.sliding is not None:
        return bucket.sliding.slide_us
    match bucket.buckets:
        case FixedBuckets(width_us=width):
            return width
        case CalendarBuckets():
            return _HOUR_US  # clocks are put forward and back
        case Moments():
            return 1 << 62


@dataclass(frozen=True, slots=True)
class _Domains:
    """What is known of variables: `columns` of a stream of them, by their names there; `of`: the
    name there of each variable, and of what has its domain."""

    stream: Stream
    columns: Mapping[str, Column]
    of: Mapping[str, str]

    def named(self, column: str) -> str:
        """The variable of a column."""
        return next((n for n, of in self.of.items() if of == column), "")


def _list_domains(union: SpjUnion, closing: Closing, catalog: Catalog) -> _Domains:
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
    for query, time in zip(union.disjuncts, closing.attributes, strict=True):
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
    return _Domains(stream, {c.name: c for c in stream.columns}, names)


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


def _count_tuples(union: SpjUnion, closing: Closing, catalog: Catalog) -> int | None:
    """The most matches that lie in one bucket, where each is one row of a stream (None: not
    known)."""
    longest, total = closing.bucket.longest_us, 0
    for query in union.disjuncts:
        if len(query.occurrences) != 1:
            return None
        stream = catalog.streams[query.occurrences[0].table]
        if stream.max_per_timestamp is None:
            return None
        total += stream.max_per_timestamp * max(1, -(-longest // stream.step_us))
    return total


def _limit_groups(
    columns: Sequence[Column], expected: int, tuples: int | None, *, apart: bool
) -> int | None:
    """The most groups that are final at one time: as many as their other columns have values, NULL
    included; or as tuples lie in a bucket."""
    if not apart:
        return None
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
