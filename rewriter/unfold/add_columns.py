"""What a query computes beside its patterns: buckets of time, expressions, and rows of groups."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.buckets.add_buckets import list_buckets
from ontoweir.rewriter.calendar.imply_lags import imply_lags
from ontoweir.rewriter.delays.delay_rows import delay_rows
from ontoweir.rewriter.expressions.attach_computation import attach_computation
from ontoweir.rewriter.groups.attach_group_terms import attach_group_terms
from ontoweir.rewriter.model.add_views import extend_catalog, tables_of
from ontoweir.rewriter.model.query import ConjunctiveQuery, NamedBuckets
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
from ontoweir.rewriter.versions.meet_versions import meet_versions
from ontoweir.rewriter.windows.window import BEGINS, ENDS


def add_columns(
    union: SpjUnion, catalog: Catalog, query: ConjunctiveQuery, buckets: Sequence[NamedBuckets]
) -> SpjUnion:
    """The union with the columns of its streams, and views, that are buckets of time; with what the
    query computes of its solutions, and of its groups.

    Args:
        union: the patterns, unfolded.
        catalog: with the views that were made.
        query: what was asked.
        buckets: its buckets, and times that mappings make terms of.

    Raises:
        QueryError: a value cannot be aggregated, or an expression is not computed exactly.
    """
    tables = tables_of(union) | {o.table for q in union.disjuncts for o in q.occurrences}
    ends = tuple(b.name for b in query.buckets if b.name.startswith(ENDS))
    begins = tuple(b.name for b in query.buckets if b.name.startswith(BEGINS))
    listed = list_buckets(sorted(tables), catalog, buckets)
    union = replace(union, buckets=listed, ends=ends, begins=begins)
    union = meet_versions(union, catalog)
    known = extend_catalog(catalog, union)
    union = replace(union, disjuncts=tuple(imply_lags(q, known) for q in union.disjuncts))
    union = delay_rows(union, extend_catalog(catalog, union))
    if query.computation is not None:
        union = attach_computation(union, extend_catalog(catalog, union), query.computation)
    whole = extend_catalog(catalog, union)
    check_aggregates(union, whole)
    return attach_group_terms(union, whole, query.group_terms)
