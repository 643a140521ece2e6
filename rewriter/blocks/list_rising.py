"""Which columns of answers rise with the time when they are final."""

from ontoweir.mappings.model.catalog import Catalog, DateType
from ontoweir.mappings.model.expression import Call, Field, Function
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets, TimeBucket
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.model.spj import SpjUnion

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
    found = {closing.variable}
    for name, made in aggregation.computed:
        if isinstance(made, Call) and made.function in (Function.CAST, Function.TRY_CAST):
            of = made.arguments[0]
            bucket = isinstance(of, Field) and of.column == closing.variable
            if bucket and isinstance(made.type, DateType) and _has_days(closing.bucket):
                found.add(name)
    return frozenset(found)


def _has_days(bucket: TimeBucket) -> bool:
    """Whether no two buckets begin on one day."""
    if isinstance(bucket.buckets, FixedBuckets):
        return bucket.buckets.width_us >= _DAY_US
    # where the clock is put forward, two days of a zone may begin on one day
    return isinstance(bucket.buckets, CalendarBuckets) and bucket.buckets.zone == "UTC"
