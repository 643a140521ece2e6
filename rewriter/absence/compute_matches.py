"""Expressions of several rows: computed of matches, each of which is one row of a stream."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.absence.compute_solutions import compute_solutions, list_needed
from ontoweir.rewriter.absence.unite_solutions import Solutions, unite_solutions
from ontoweir.rewriter.model.query import (
    Computation,
    ConjunctiveQuery,
    GroupTerms,
    NamedBuckets,
    Variable,
    expression_variables,
)
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.windows.window import BEGINS, ENDS


def list_matches(branches: Sequence[ConjunctiveQuery]) -> tuple[ConjunctiveQuery, ...] | None:
    """The branches of a query as those of its matches: of all that it computes with, and of the
    times of GRAPH. None: when a match is an answer does not follow from these."""
    times = [_list_times(branch) for branch in branches]
    edges = (b.name.startswith((ENDS, BEGINS)) for branch in branches for b in branch.buckets)
    if any(edges) or not times[0] or any(mine != times[0] for mine in times):
        return None
    moments = tuple(NamedBuckets(v.name, v, TimeBucket(Moments())) for v in times[0])
    return tuple(
        replace(
            branch,
            distinct=False,
            aggregation=None,
            computation=None,
            group_terms=GroupTerms(),
            buckets=moments,
        )
        for branch in branches
    )


def _list_times(branch: ConjunctiveQuery) -> tuple[Variable, ...]:
    return tuple(sorted({a.time for a in branch.atoms if a.time is not None}))


def compute_matches(
    found: SpjUnion,
    branches: Sequence[ConjunctiveQuery],
    catalog: Catalog,
    several: QueryError,
) -> SpjUnion:
    """The query over the stream of its matches.

    Args:
        found: the matches, unfolded (`list_matches`).
        branches: the query.
        catalog: the tables.
        several: what is said if there is no such stream.

    Raises:
        QueryError: the expression is not computed of matches either.
    """
    query = branches[0]
    assert query.computation is not None
    times = tuple(v.name for v in _list_times(query))
    source = query.source or Source(query.name)
    read = _list_read(query.computation) | set(list_needed(query))
    try:
        union = unite_solutions(
            query.name,
            [n for n in found.variables if n not in times or n in read],
            [Solutions(found, times, (), ())],
            catalog,
            distinct=query.distinct,
            source=source,
        )
    except QueryError:
        raise several from None
    return compute_solutions(union, query, catalog)


def _list_read(computation: Computation) -> set[str]:
    """The variables that expressions read, or that are shown."""
    expressions = [c.expression for c in computation.computed]
    expressions += [expression for expression, _ in computation.filters]
    variables = (v.name for e in expressions for v in expression_variables(e))
    return {*variables, *computation.variables}
