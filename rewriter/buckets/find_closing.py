"""The bucket of time by which the groups of an aggregate query are final; and the time that the
answers of a set show, after which they are not found again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd

from ontoweir.mappings.model.catalog import ANSWERS, Catalog, Stream
from ontoweir.mappings.model.time_bucket import (
    CalendarBuckets,
    FixedBuckets,
    Moments,
    MonthsLater,
    TimeBucket,
)
from ontoweir.rewriter.model.spj import Attribute, LiteralOutput, SpjQuery, SpjUnion

_DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Closing:
    """A group is final when its bucket has ended, and all that may still match is over.

    `variable`: the group's column with the bucket, which is `bucket`; `attributes`: of every
    disjunct, where it comes from. `grid_us`: its rows are final answers, whose times are multiples
    of it (None: nothing is known): then the last time at which rows of a bucket come is known.
    `spread_us`: the times of some disjuncts are behind those of their rows by so much less than
    those of others, which are as far behind as those of `bucket`.
    """

    variable: str
    bucket: TimeBucket
    attributes: tuple[Attribute, ...]
    grid_us: int | None = None
    spread_us: int = 0

    @property
    def after_us(self) -> int:
        """How long after its end a bucket is over, where no match waits: as long as the times are
        behind that lie in it, or until the last of them; of a calendar's buckets on a grid in no
        zone but UTC always equally long."""
        behind = self.bucket.behind_us
        if self.grid_us is None:
            return behind
        return max(0, (behind - 1) // self.grid_us * self.grid_us)


def find_closing(union: SpjUnion, catalog: Catalog) -> Closing | None:
    """The first column of the group that is the same bucket of time in all disjuncts (None: there
    is none, or groups are of sliding windows; and they are never final).

    Args:
        union: an aggregate query.
        catalog: with its views and buckets (`extend_catalog`).
    """
    assert union.aggregation is not None
    # rows leave the groups again; or a session ends
    if union.ends or union.aggregation.session_us is not None:
        return None
    panes = union.aggregation.panes
    variables = union.aggregation.group if panes is None else (panes.variable,)
    return _find(union, variables, catalog)


def close_by_time(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """A set query whose disjuncts are marked with a time (`SpjQuery.closing`) that every answer
    shows: equal answers have equal times, so that an answer is forgotten when nothing of its time
    can match any more. Any other query as it is.

    Args:
        union: a query.
        catalog: with its views and buckets (`extend_catalog`).
    """
    if not union.distinct or union.aggregation is not None:
        return union
    found = _find(union, union.variables, catalog, moments=True)
    if found is None:
        return union
    marked = (
        replace(query, closing=attribute)
        for query, attribute in zip(union.disjuncts, found.attributes, strict=True)
    )
    return replace(union, disjuncts=tuple(marked))


def _find(
    union: SpjUnion, variables: Sequence[str], catalog: Catalog, *, moments: bool = False
) -> Closing | None:
    """The first of some variables that is the same bucket in all disjuncts, of times that may be
    behind those of rows for different times; `moments`: a time, behind for the same time."""
    if not union.buckets or not union.disjuncts:
        return None
    for variable in variables:
        found = [bucket_of(query, variable, catalog) for query in union.disjuncts]
        known = [
            f for f in found if f is not None and (not moments or isinstance(f[1].buckets, Moments))
        ]
        kinds = {b if moments else replace(b, behind_us=0) for _, b in known}
        if len(known) == len(found) and len(kinds) == 1:
            behind = [b.behind_us for _, b in known]
            bucket, attributes = max((b for _, b in known), key=_behind), tuple(a for a, _ in known)
            spread = max(behind) - min(behind)
            grid = None if spread else _find_grid(union, bucket, attributes, catalog)
            return Closing(variable, bucket, attributes, grid, spread)
    return None


def _behind(bucket: TimeBucket) -> int:
    return bucket.behind_us


def _find_grid(
    union: SpjUnion, bucket: TimeBucket, attributes: Sequence[Attribute], catalog: Catalog
) -> int | None:
    """Of which the times of the rows in a bucket are multiples, where they are final answers, and
    buckets end at such times."""
    grid = 0
    for query, attribute in zip(union.disjuncts, attributes, strict=True):
        table = {o.alias: o.table for o in query.occurrences}[attribute.alias]
        stream = catalog.streams[table]
        if stream.data != ANSWERS or stream.unit_us is None:
            return None
        grid = gcd(grid, stream.unit_us)
    match bucket.buckets:
        case FixedBuckets(width_us=width, origin_us=origin):
            return None if width % grid or origin % grid else grid
        case CalendarBuckets(zone=zone):
            return None if zone == "UTC" and _DAY_US % grid else grid
        case Moments() | MonthsLater():
            return None


def bucket_of(
    query: SpjQuery, variable: str, catalog: Catalog
) -> tuple[Attribute, TimeBucket] | None:
    """Where a variable comes from in a disjunct, if it is a bucket of time, and which."""
    output = dict(query.outputs)[variable]
    if not isinstance(output, LiteralOutput):
        return None
    attribute = output.value
    table = {o.alias: o.table for o in query.occurrences}[attribute.alias]
    stream = catalog.table(table)
    column = stream.column(attribute.column) if isinstance(stream, Stream) else None
    if column is None or column.bucket is None:
        return None
    return attribute, column.bucket
