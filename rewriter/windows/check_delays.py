"""Refuses delays of rows that are then shown for ever, where that says too little of answers."""

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses
from ontoweir.rewriter.model.spj import Attribute, SpjQuery, SpjUnion, output_attributes


def check_delays(union: SpjUnion, catalog: Catalog) -> None:
    """Nothing, if every answer says by itself from when on it holds.

    Raises:
        QueryError: a row that is shown some time after its own, and has no window, is joined with
            rows of other times; or such answers are merged by DISTINCT, or grouped.
    """
    if not union.begins:
        return
    if union.aggregation is not None and not union.ends:
        raise _refuse(
            union,
            "a delay under an aggregate",
            "leave the delay out: the groups change so much earlier",
        )
    if union.distinct and not union.ends:
        raise _refuse(
            union,
            "a delay without a window, under DISTINCT",
            "leave the delay out: an answer holds so much earlier; or write a window too",
        )
    for query in union.disjuncts:
        outputs = dict(query.outputs)
        ended = {a.alias for n in union.ends for a in output_attributes(outputs[n])}
        late = {a.alias for n in union.begins for a in output_attributes(outputs[n])} - ended
        if late and _has_other_times(query, catalog, late):
            raise _refuse(
                union,
                "a delay of rows without a window, which are joined with others",
                "write a window of theirs too, such as ?t > NOW() - …, or ts > NOW() - …",
            )


def _has_other_times(query: SpjQuery, catalog: Catalog, late: set[str]) -> bool:
    """Whether some streams' rows may have other times than these."""
    times = [
        Attribute(o.alias, catalog.streams[o.table].timestamp)
        for o in query.occurrences
        if o.table in catalog.streams
    ]
    classes = EqualityClasses(query.occurrences, query.conditions)
    return any(not classes.same(a, b) for a in times for b in times if a.alias in late)


def _refuse(union: SpjUnion, what: str, fix: str) -> QueryError:
    return QueryError(
        what, why="a row is shown some time after its own", fix=fix, source=union.source
    )
