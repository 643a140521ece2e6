"""Gives what always holds a time, in a query of which other parts hold at timestamps."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Occurrence, Provenance, SpjQuery
from ontoweir.rewriter.unfold.bind_times import find_moments
from ontoweir.rewriter.views.make_sets import SetMaker
from ontoweir.rewriter.views.moments import EVERY_TIME

_WHAT = "one part of the query always holds, and another at timestamps"
_APART = "ask for each part in a query of its own"


def refuse_bags(source: Source | None, *, distinct: bool, sql: bool = False) -> None:
    """Raise the error of a union of what always holds and what holds at timestamps, if it counts.

    Raises:
        QueryError: it is not `distinct`.
    """
    if not distinct:
        within = "" if sql else "put the first into GRAPH ?t { … }, if each timestamp is to count, "
        raise QueryError(
            _WHAT,
            why="an answer that always holds counts once, and at no timestamp, where answers are "
            "made and counted",
            fix=f"write {'UNION' if sql else 'SELECT DISTINCT'}, {within}or {_APART}",
            source=source,
        )


def date_statics(
    disjuncts: Sequence[SpjQuery], sets: SetMaker, source: Source | None
) -> tuple[SpjQuery, ...]:
    """The disjuncts of a set, in which those that read no stream hold at every timestamp that a
    stream of the catalog has a row of: so their answers, which a set has once, are those of the
    first.

    Args:
        disjuncts: of a query with set semantics, of which other parts hold at timestamps.
        sets: makes the view of all timestamps, the first time that it is needed.
        source: the query's place.

    Raises:
        QueryError: the streams of the catalog have different units of time.
    """
    return tuple(q if _has_stream(q, sets.catalog) else _date(q, sets, source) for q in disjuncts)


def is_mixed(disjuncts: Sequence[SpjQuery], catalog: Catalog) -> bool:
    """Whether some disjuncts read a stream, and others none."""
    return len({_has_stream(query, catalog) for query in disjuncts}) > 1


def _date(query: SpjQuery, sets: SetMaker, source: Source | None) -> SpjQuery:
    view = find_moments(sets, _WHAT, source)
    alias = f"{view.name}_{len(query.occurrences) + 1}"
    return replace(
        query,
        occurrences=(*query.occurrences, Occurrence(alias, view.name)),
        provenance=(*query.provenance, (alias, Provenance(EVERY_TIME, query_source=source))),
    )


def _has_stream(query: SpjQuery, catalog: Catalog) -> bool:
    return any(o.table in catalog.streams for o in query.occurrences)
