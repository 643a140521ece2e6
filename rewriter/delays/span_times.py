"""Times of earlier rows that answers show: answers with one time lie close together."""

from collections.abc import Mapping, Sequence

from ontoweir.mappings.model.catalog import Catalog, Lag
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.model.spj import Attribute, Deadline, LiteralOutput, SpjQuery, SpjUnion


def span_times(
    found: SpjUnion,
    shown: Sequence[str],
    stamps: Sequence[Mapping[str, Attribute]],
    deadlines: Sequence[Deadline],
    catalog: Catalog,
) -> tuple[Lag, ...]:
    """For every variable that is the time of some row of an answer: how long after it the answer is
    final, at most, where that is limited. So long the answers with one such time lie apart.

    An answer is final when the last of its rows is there and all deadlines are over, whichever of
    them that is.

    Args:
        found: the query.
        shown: the variables that are columns of its answers.
        stamps: of each disjunct, the timestamps that variables are.
        deadlines: until when something may come beside an answer, by those variables.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    known = []
    for name in shown:
        found_us = [
            _time_behind(query, name, own, deadlines, catalog)
            for query, own in zip(found.disjuncts, stamps, strict=True)
        ]
        limited = [us for us in found_us if us is not None]
        if limited and len(limited) == len(found_us):
            known.append(Lag(found.name, (name,), (name,), max(limited)))
    return tuple(known)


def _time_behind(
    query: SpjQuery,
    name: str,
    own: Mapping[str, Attribute],
    deadlines: Sequence[Deadline],
    catalog: Catalog,
) -> int | None:
    """How long, at most, a variable that is a time is before its answer is final, in µs (None: it
    is no time of a row of a stream, or any time before)."""
    output = dict(query.outputs)[name]
    if not isinstance(output, LiteralOutput):
        return None
    of = {o.alias: o.table for o in query.occurrences}
    stream = catalog.streams.get(of[output.value.alias])
    column = None if stream is None else stream.column(output.value.column)
    if stream is None or column is None or column.bucket is None:
        return None
    bucket = column.bucket
    if bucket.buckets != Moments() or bucket.sliding is not None or bucket.behind_us < 0:
        return None
    stamp = Attribute(output.value.alias, stream.timestamp)
    late = limit_lateness(query, stamp, own, deadlines, catalog)
    return None if late is None else late + bucket.behind_us


def limit_lateness(
    query: SpjQuery,
    stamp: Attribute,
    own: Mapping[str, Attribute],
    deadlines: Sequence[Deadline],
    catalog: Catalog,
) -> int | None:
    """How long after a timestamp of its rows an answer is final, at most, in µs (None: any time).

    Args:
        query: one disjunct.
        stamp: the timestamp of one of its rows.
        own: the timestamps that variables are.
        deadlines: until when something may come beside an answer, by those variables.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    tables = {o.alias: o.table for o in query.occurrences}
    streams = {a: s for a, t in tables.items() if (s := catalog.streams.get(t)) is not None}
    step_us = streams[stamp.alias].step_us
    limits = bound_differences(query, catalog, domains=False)
    if limits is None:
        return 0  # there is no such answer

    def after(time: Attribute) -> int | None:
        """How long after the row's timestamp a time is, at most."""
        if time == stamp:
            return 0
        limit = limits.get((time, stamp))
        return None if limit is None else int(limit[0]) * step_us

    late = [after(Attribute(alias, other.timestamp)) for alias, other in streams.items()]
    for deadline in deadlines:
        ends = [us + moved for n, moved in deadline.after if (us := after(own[n])) is not None]
        late.append(min(ends, default=None))
    known = [us for us in late if us is not None]
    return max(0, *known) if len(known) == len(late) else None
