"""A bound on the rows that have begun, of which later ones are told how many there are."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound, total_bound
from ontoweir.checker.plans.bound_versions import KeptVersions, bound_by_domains
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Between, Ending
from ontoweir.rewriter.model.spj import (
    Attribute,
    LiteralOutput,
    Output,
    SpjQuery,
    SpjUnion,
    output_attributes,
)


def bound_begun(
    between: Between[SpjUnion], catalog: Catalog, statistics: Statistics
) -> KeptVersions:
    """Equal rows that have begun are one count, until what ends them takes it to zero (change.md
    section 5): there are no more than different values of all that they show; and where every row
    that begins ends those before it, no more than those of one time for each key by which they
    end (None: any number).

    Args:
        between: which rows meet which.
        catalog: the tables.
        statistics: what is known of the static data.
    """
    wide = extend_catalog(catalog, between.begins)
    kept: list[KeptVersions] = []
    for query in between.begins.disjuncts:
        shown = [a for _, output in query.outputs for a in output_attributes(output)]
        ways = [bound_by_domains(query, list(dict.fromkeys(shown)), wide, statistics)]
        ways += (
            way
            for ending in between.ends
            if (way := _bound_latest(query, ending, shown, catalog, wide, statistics)) is not None
        )
        kept.append(min(ways, key=_size))
    bounds = [one.bound for one in kept if one.bound is not None]
    return KeptVersions(
        total_bound(bounds) if len(bounds) == len(kept) else None,
        tuple(dict.fromkeys(name for one in kept for name in one.unbounded)),
        tuple(dict.fromkeys(d for one in kept for d in one.conditions)),
    )


def _size(kept: KeptVersions) -> tuple[bool, bool, int]:
    """How much a bound says: the least number, then one that is no number, then none."""
    rows = None if kept.bound is None else kept.bound.rows
    return kept.bound is None, rows is None, rows or 0


def _bound_latest(
    query: SpjQuery,
    ending: Ending[SpjUnion],
    shown: Sequence[Attribute],
    catalog: Catalog,
    wide: Catalog,
    statistics: Statistics,
) -> KeptVersions | None:
    """The rows that have begun where each is one of those that end others with an equal key, too:
    all that have not ended are of one time (None: it is not, or its key may have any number of
    values)."""
    streams = [o for o in query.occurrences if o.table in wide.streams]
    if len(streams) != 1:
        return None
    (row,) = streams
    stream = wide.streams[row.table]
    outputs = dict(query.outputs)
    begun: dict[str, Output] = {}
    for mine, theirs in ending.key:
        output = outputs[mine]
        if not isinstance(output, LiteralOutput):  # NULL, which nothing ends
            return None
        begun[theirs] = replace(output, optional=False)
    time = "time of the row"
    begun[time] = LiteralOutput(Attribute(row.alias, stream.timestamp))
    alike = replace(query, outputs=tuple(begun.items()))
    both = extend_catalog(wide, ending.union)
    others = (_show_time(q, time, both) for q in ending.union.disjuncts)
    try:
        if not any(q is not None and is_contained(alike, q, both) for q in others):
            return None
    except QueryError:  # it takes too long to find out
        return None
    key = [a for o in begun.values() for a in output_attributes(o) if a.column != stream.timestamp]
    beside = [a for a in shown if a.alias != row.alias]
    each = bound_by_domains(query, list(dict.fromkeys((*key, *beside))), wide, statistics)
    if each.bound is None:
        return None
    return replace(each, bound=_times(each.bound, stream, [a for a in key if a.alias == row.alias]))


def _show_time(query: SpjQuery, time: str, catalog: Catalog) -> SpjQuery | None:
    """What ends rows, with the time of its one row of a stream."""
    streams = [o for o in query.occurrences if o.table in catalog.streams]
    if len(streams) != 1:
        return None
    (row,) = streams
    stamp = LiteralOutput(Attribute(row.alias, catalog.streams[row.table].timestamp))
    shown = tuple((n, o) for n, o in query.outputs if isinstance(o, LiteralOutput))
    return replace(query, outputs=(*shown, (time, stamp)))


def _times(bound: Bound, stream: Stream, key: Sequence[Attribute]) -> Bound:
    """So many rows for each of the rows of a stream of one time."""
    named = {stream.timestamp, *(a.column for a in key)}
    if any(set(k) <= named for k in stream.keys):
        return bound
    rate = stream.max_per_timestamp
    rows = None if rate is None or bound.rows is None else rate * bound.rows
    formula = f"R({stream.name})"
    if bound.rows == 1:
        return Bound(rows, formula)
    return Bound(rows, f"{bound.formula} · {formula}")
