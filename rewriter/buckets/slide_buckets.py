"""Buckets that overlap, as panes of which they are made."""

from dataclasses import replace

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.time_bucket import TimeBucket
from ontoweir.rewriter.buckets.find_closing import bucket_of
from ontoweir.rewriter.model.aggregation import Panes
from ontoweir.rewriter.model.spj import SpjUnion

_WHY = "a row lies in several such buckets, and in one pane of each: a query has panes of one kind"


def slide_buckets(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The query whose groups are those of panes, where it groups by buckets that overlap; where
    these end follows from where they begin, and is no variable of the group any more.

    Args:
        union: an aggregate query, with each end of a bucket grouped by beside its start.
        catalog: with its views and buckets.

    Raises:
        QueryError: it groups by several kinds of such buckets, by their ends alone, or aggregates
            them; or rows are those of a sliding window.
    """
    aggregation = union.aggregation
    if aggregation is None or not any(c.bucket and c.bucket.sliding for _, c in union.buckets):
        return union
    found: dict[str, TimeBucket] = {}
    for query in union.disjuncts:
        for name, _ in query.outputs:
            bucket = bucket_of(query, name, catalog)
            if bucket is not None and bucket[1].sliding is not None:
                found[name] = bucket[1]
    if not union.disjuncts:
        return union
    starts = [name for name in found if not found[name].ends]
    ends = [name for name in found if found[name].ends]
    kinds = {bucket.sliding for bucket in found.values()}
    if len(kinds) != 1 or len(starts) != 1 or len(ends) > 1:
        raise QueryError(
            "GROUP BY several buckets that overlap"
            if starts
            else f"GROUP BY the end of a bucket that overlaps others, {ends[0]}, without its start",
            why=_WHY,
            fix="write one query for each" if starts else "group by its start too, and select it",
            source=union.source,
        )
    if union.ends:
        raise QueryError(
            f"GROUP BY {starts[0]}, a bucket of time that overlaps others, over a sliding window",
            why="a row is in the answer while its window shows it, and in several buckets of which "
            "each is given once, when it is over",
            fix="leave the condition with NOW() out, or group by ow:tumble, or TUMBLE",
            source=union.source,
        )
    (sliding,), (start,) = kinds, starts
    assert sliding is not None
    arguments = {a.argument for a in aggregation.aggregates}
    aggregated = sorted(name for name in found if name in arguments)
    if aggregated:
        raise QueryError(
            f"{aggregated[0]}, a bucket of time that overlaps others, is aggregated",
            why=_WHY,
            fix="leave the aggregate out: a group has one bucket",
            source=union.source,
        )
    end = next(iter(ends), None)
    if sliding.grows and end is None:
        raise QueryError(
            "GROUP BY buckets that grow, without their ends",
            why="they begin together: where each ends tells them apart",
            fix="group by where the bucket ends too, and select it",
            source=union.source,
        )
    made = replace(
        aggregation,
        group=tuple(name for name in aggregation.group if name != end),
        panes=Panes(start, sliding, end),
    )
    disjuncts = tuple(
        replace(query, outputs=tuple(o for o in query.outputs if o[0] != end))
        for query in union.disjuncts
    )
    return replace(union, variables=made.variables, disjuncts=disjuncts, aggregation=made)
