"""Which columns of answers rise with the time when they are final."""

from collections.abc import Iterator

from ontoweir.mappings.model.catalog import Catalog, DateType
from ontoweir.mappings.model.expression import Call, Field, Function
from ontoweir.mappings.model.time_bucket import (
    CalendarBuckets,
    FixedBuckets,
    Moments,
    TimeBucket,
)
from ontoweir.rewriter.buckets.find_closing import Closing, find_closing
from ontoweir.rewriter.model.spj import LiteralOutput, NullOutput, SpjUnion

_DAY_US = 86_400_000_000


def list_rising(union: SpjUnion, catalog: Catalog) -> frozenset[str]:
    """The columns of groups that are greater wherever the group is final later, and equal where it
    is final at the same time: their bucket of time, and its day where it is no shorter.

    Args:
        union: an aggregate query.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    aggregation = union.aggregation
    closing = None if aggregation is None else find_closing(union, catalog)
    if aggregation is None or closing is None or closing.bucket.sliding is not None:
        return frozenset()
    found = {closing.variable, *_list_followed(union, closing, catalog)}
    for name, made in aggregation.computed:
        if isinstance(made, Call) and made.function in (Function.CAST, Function.TRY_CAST):
            of = made.arguments[0]
            bucket = isinstance(of, Field) and of.column == closing.variable
            if bucket and isinstance(made.type, DateType) and _has_days(closing.bucket):
                found.add(name)
    return frozenset(found)


def _list_followed(union: SpjUnion, closing: Closing, catalog: Catalog) -> Iterator[str]:
    """Columns of the group that rise with the timestamp of the answers that it is made of, where
    groups are by this very time."""
    assert union.aggregation is not None
    if not isinstance(closing.bucket.buckets, Moments):
        return
    for name in union.aggregation.group:
        columns = set[tuple[str, str] | None]()
        for query, time in zip(union.disjuncts, closing.attributes, strict=True):
            output = dict(query.outputs)[name]
            table = {o.alias: o.table for o in query.occurrences}[time.alias]
            if (  # what rises is never NULL
                isinstance(output, LiteralOutput | NullOutput) and output.value.alias == time.alias
            ):
                columns.add((table, output.value.column))
            else:
                columns.add(None)
        (one,) = columns if len(columns) == 1 else (None,)
        if one is not None and one[1] in catalog.rising.get(one[0], frozenset()):
            yield name


def _has_days(bucket: TimeBucket) -> bool:
    """Whether no two buckets begin on one day."""
    if isinstance(bucket.buckets, FixedBuckets):
        return bucket.buckets.width_us >= _DAY_US
    # where the clock is put forward, two days of a zone may begin on one day
    return isinstance(bucket.buckets, CalendarBuckets) and bucket.buckets.zone == "UTC"
