"""The query that counterexamples are confirmed against: with declared lags, and with what windows
with steps, and delays, show of rows, exactly."""

from collections.abc import Iterator
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.algebra.list_lags import apply_lags
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.model.spj import Attribute, Compare, LiteralOutput, Op, SpjQuery, SpjUnion

_TIME = make_column(TimeBucket(Moments()))


def is_rounded(union: SpjUnion, catalog: Catalog) -> bool:
    """Whether rows are shown from or until times that are no fixed time after their own: then the
    conditions of the query let more rows meet than are ever shown together."""
    if union.begins:
        return True
    for query in union.disjuncts:
        outputs = dict(query.outputs)
        of = {o.alias: o.table for o in query.occurrences}
        for name in union.ends:
            output = outputs.get(name)
            if not isinstance(output, LiteralOutput):
                return True
            column = catalog.table(of[output.value.alias]).column(output.value.column)
            if column is None or column.bucket is None:
                return True
            if not isinstance(column.bucket.buckets, Moments):
                return True
    return False


def add_times(catalog: Catalog) -> Catalog:
    """The catalog whose streams have the time of a row as a column."""
    streams = {
        name: s if s.column(_TIME.name) else replace(s, columns=(*s.columns, _TIME))
        for name, s in catalog.streams.items()
    }
    return replace(catalog, streams=streams)


def query_to_refute(union: SpjUnion, whole: SpjUnion, catalog: Catalog, *, timed: bool) -> SpjUnion:
    """The query that a witness is confirmed against.

    Args:
        union: the query, or a part of it.
        whole: the query, which has its windows.
        catalog: with its buckets; where rows are shown at rounded times, with times (`add_times`).
        timed: False in the arrival model: without timestamps, so that tuples may arrive in the
            order of any timestamps.
    """
    if timed:
        return apply_lags(
            _show_windows(union, catalog) if is_rounded(whole, catalog) else union, catalog
        )
    streams = catalog.streams

    def drop(query: SpjQuery) -> SpjQuery:
        times = {
            Attribute(o.alias, streams[o.table].timestamp)
            for o in query.occurrences
            if o.table in streams
        }
        kept = (c for c in query.conditions if not (isinstance(c, Compare) and c.left in times))
        return replace(query, conditions=tuple(kept))

    return replace(union, disjuncts=tuple(map(drop, union.disjuncts)))


def _show_windows(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The query whose matches are those whose rows are all shown at one time."""
    disjuncts = tuple(
        replace(query, conditions=(*query.conditions, *_meet(query, union, catalog)))
        for query in union.disjuncts
    )
    return replace(union, disjuncts=disjuncts)


def _meet(query: SpjQuery, union: SpjUnion, catalog: Catalog) -> Iterator[Compare]:
    outputs = dict(query.outputs)

    def edges(names: tuple[str, ...]) -> list[Attribute]:
        found = (outputs.get(name) for name in names)
        return [output.value for output in found if isinstance(output, LiteralOutput)]

    begins = edges(union.begins) + [
        Attribute(o.alias, _TIME.name)
        for o in query.occurrences
        if isinstance(catalog.table(o.table), Stream)
    ]
    for begin in begins:
        for end in edges(union.ends):
            yield Compare(begin, Op.LT, end)
