"""Expressions of several rows: computed of matches, each of which is one row of a stream."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.column_types import XSD
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.absence.unite_solutions import Solutions, unite_solutions
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.expressions.attach_computation import attach_computation
from ontoweir.rewriter.groups.attach_group_terms import attach_group_terms
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.query import (
    Computation,
    ConjunctiveQuery,
    GroupTerms,
    NamedBuckets,
    Variable,
    expression_variables,
)
from ontoweir.rewriter.model.spj import Attribute, LiteralOutput, SpjUnion
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
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
    read = _list_read(query.computation)
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
    union = _add_buckets(replace(union, aggregation=query.aggregation), query, several)
    union = attach_computation(union, extend_catalog(catalog, union), query.computation)
    whole = extend_catalog(catalog, union)
    check_aggregates(union, whole)
    return attach_group_terms(union, whole, query.group_terms)


def _list_read(computation: Computation) -> set[str]:
    """The variables that expressions read, or that are shown."""
    expressions = [c.expression for c in computation.computed]
    expressions += [expression for expression, _ in computation.filters]
    variables = (v.name for e in expressions for v in expression_variables(e))
    return {*variables, *computation.variables}


def _add_buckets(union: SpjUnion, query: ConjunctiveQuery, several: QueryError) -> SpjUnion:
    """The query with the buckets of the time that is never before the others of a match, which is
    that of the match.

    Raises:
        QueryError: a bucket is of another time.
    """
    buckets = [b for b in query.buckets if b.bucket != TimeBucket(Moments())]
    if not buckets:
        return union
    (alias,) = {o.alias for q in union.disjuncts for o in q.occurrences}
    (block,) = (b for b in union.blocks if b.stream.name == alias)
    if block.time is None or any((b.time.name, 0) != block.time for b in buckets):
        raise several
    columns = {b.name: make_column(b.bucket) for b in buckets}
    outputs = tuple(
        (name, LiteralOutput(Attribute(alias, column.name), f"{XSD}dateTime"))
        for name, column in columns.items()
    )
    return replace(
        union,
        disjuncts=tuple(replace(q, outputs=(*q.outputs, *outputs)) for q in union.disjuncts),
        buckets=(*union.buckets, *((alias, column) for column in columns.values())),
    )
