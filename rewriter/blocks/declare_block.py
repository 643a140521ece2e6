"""The stream that the final answers of a query are, and what follows for it."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations, starmap
from math import gcd

from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.model.catalog import ANSWERS, Catalog, Lag, Stream
from ontoweir.mappings.model.expression import Call, Field, Function
from ontoweir.mappings.model.never_null import never_null
from ontoweir.mappings.model.time_bucket import (
    CalendarBuckets,
    FixedBuckets,
    Moments,
    MonthsLater,
    TimeBucket,
)
from ontoweir.rewriter.blocks.declare_groups import GroupColumns, declare_groups, limit_groups
from ontoweir.rewriter.buckets.find_closing import Closing, bucket_of, find_closing
from ontoweir.rewriter.model.spj import LiteralOutput, NotNull, SpjUnion
from ontoweir.rewriter.nulls.exclude_nulls import exclude_nulls

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
    tuples = _count_tuples(union, closing, catalog)
    made = declare_groups(union, closing.attributes, behind.keys(), tuples, catalog)
    rest = [n for n in union.aggregation.group if n != closing.variable and n not in behind]
    apart = _shortest_us(closing.bucket) >= base.step_us
    key = (*rest, AT) if apart else tuple(n for n in union.aggregation.row if n not in behind)
    shown = {c.name for c in made.columns}
    keys: tuple[tuple[str, ...], ...] = ((*key, AT) if AT not in key else key,)
    if apart and (less := _find_row_key(union, rest, catalog)) is not None:
        keys = (*keys, (*less, AT))
    told = [c for c in made.columns if c.name in rest]
    return DeclaredBlock(
        Stream(
            name,
            ANSWERS,
            AT,
            base.step_us,
            limit_groups(told, len(rest), tuples) if apart else None,
            made.columns,
            keys if apart and set(rest) <= shown else (),
            made.references,
            base.source,
            lags=tuple(_list_lags(union, closing, made, shown, catalog)),
            unit_us=_find_unit(union, closing, base.step_us, catalog),
            filled=tuple(n for n in rest if n in shown and is_there(n, union, catalog)),
        ),
        behind,
        apart,
    )


def _find_row_key(union: SpjUnion, rest: Sequence[str], catalog: Catalog) -> tuple[str, ...] | None:
    """The columns of a group that tell the rows of one stream apart, as they are a key of it, none
    of which is NULL (None: it is of more, or of several rows)."""
    queries = union.disjuncts
    tables = {o.table for q in queries for o in q.occurrences}
    alone = all(len(q.occurrences) == 1 for q in queries)
    stream = catalog.table(tables.pop()) if len(tables) == 1 and alone else None
    if not isinstance(stream, Stream) or not all(starmap(exclude_nulls, combinations(queries, 2))):
        return None
    of: dict[str, str] = {}
    for name in rest:
        outputs = [dict(q.outputs)[name] for q in queries]
        read = {o.value.column if isinstance(o, LiteralOutput) else None for o in outputs}
        column = stream.column(shown) if len(read) == 1 and (shown := read.pop()) else None
        match None if column is None else column.expression:
            case Call(function=Function.EPOCH_US, arguments=(Field(column=time),)):
                of.setdefault(time, name)
            case _ if column is not None and not column.nullable:
                of.setdefault(column.name, name)
    keys = [k for k in stream.keys if of.keys() >= {*k}]
    return None if not keys else tuple(of[c] for c in min(keys, key=len))


def is_there(name: str, union: SpjUnion, catalog: Catalog) -> bool:
    """Whether a column of a group is never NULL: a condition says so, or what it is made of.

    Args:
        name: what is grouped by.
        union: an aggregate query.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    for query in union.disjuncts:
        output = dict(query.outputs)[name]
        if not isinstance(output, LiteralOutput):
            return False
        of = {o.alias: o.table for o in query.occurrences}
        table = catalog.table(of[output.value.alias])
        column, said = table.column(output.value.column), NotNull(output.value)
        known = {replace(c, source=None) for c in query.conditions if isinstance(c, NotNull)}
        made = None if column is None else column.expression
        computed = made is not None and not may_be_null(made, never_null(table))
        if not computed and said not in known and output.value.column not in never_null(table):
            return False
    return True


def _list_lags(
    union: SpjUnion, closing: Closing, domains: GroupColumns, shown: Set[str], catalog: Catalog
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
        elif other.buckets.even is not None:
            found[name] = after + other.buckets.even.width_us
    return {n: us for n, us in found.items() if n in shown}


def _find_unit(union: SpjUnion, closing: Closing, step_us: int, catalog: Catalog) -> int | None:
    """Of which all times at which groups are final are multiples, if it is more than a step."""
    bucket = closing.bucket
    if not _ends_at_once(union, catalog) or not _is_aligned(bucket, step_us):
        return None
    if bucket.sliding is not None:
        parts = (bucket.sliding.slide_us, bucket.sliding.size_us, bucket.sliding.origin_us)
    elif isinstance(bucket.buckets, Moments) or bucket.buckets.even is None:
        return None
    else:
        parts = (bucket.buckets.even.width_us, bucket.buckets.even.origin_us, 0)
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
        case MonthsLater():
            return False


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
        case MonthsLater():
            return 1


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
