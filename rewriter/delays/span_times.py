"""Times of earlier rows that answers show: answers with one time lie close together."""

from collections.abc import Mapping, Sequence

from ontoweir.mappings.model.catalog import Catalog, Lag
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.model.spj import Attribute, LiteralOutput, SpjQuery, SpjUnion


def span_times(
    found: SpjUnion,
    shown: Sequence[str],
    stamps: Sequence[Mapping[str, Attribute]],
    last: str,
    catalog: Catalog,
) -> tuple[Lag, ...]:
    """For every variable that is the time of some row of an answer: how long after it the last row
    of the answer comes, at most, where that is limited. So long the answers with one such time lie
    apart.

    Args:
        found: the query.
        shown: the variables that are columns of its answers.
        stamps: of each disjunct, the timestamps that variables are.
        last: the variable with the time of the last row of an answer.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    known = []
    for name in shown:
        found_us = [
            _time_behind(query, name, own[last], catalog)
            for query, own in zip(found.disjuncts, stamps, strict=True)
        ]
        limited = [us for us in found_us if us is not None]
        if limited and len(limited) == len(found_us):
            known.append(Lag(found.name, (name,), (name,), max(limited)))
    return tuple(known)


def _time_behind(query: SpjQuery, name: str, last: Attribute, catalog: Catalog) -> int | None:
    """How long, at most, a variable that is a time is before a timestamp that it is never after, in
    µs (None: it is no time of a row of a stream, or any time before, or it may be after)."""
    output = dict(query.outputs)[name]
    if not isinstance(output, LiteralOutput):
        return None
    table = {o.alias: o.table for o in query.occurrences}[output.value.alias]
    stream = catalog.streams.get(table)
    column = None if stream is None else stream.column(output.value.column)
    if stream is None or column is None or column.bucket is None:
        return None
    bucket = column.bucket
    if bucket.buckets != Moments() or bucket.sliding is not None or bucket.behind_us < 0:
        return None
    stamp = Attribute(output.value.alias, stream.timestamp)
    if stamp == last:
        return bucket.behind_us
    limits = bound_differences(query, catalog, domains=False)
    if limits is None:
        return bucket.behind_us  # there is no such answer
    most, after = limits.get((last, stamp)), limits.get((stamp, last))
    if most is None or after is None or after[0] > 0:
        return None
    return max(0, int(most[0])) * stream.step_us + bucket.behind_us
