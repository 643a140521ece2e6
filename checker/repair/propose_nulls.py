"""Rows that GROUP BY may do without: those whose group no rule closes, as they have no value."""

from collections.abc import Iterator
from dataclasses import replace

from ontoweir.checker.model.list_valued import list_valued
from ontoweir.checker.repair.changes import LeaveNulls
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.groups.find_closed_groups import find_closed_groups
from ontoweir.rewriter.model.spj import SpjUnion


def propose_nulls(union: SpjUnion, catalog: Catalog) -> Iterator[LeaveNulls]:
    """`LeaveNulls` for each variable of GROUP BY, where a rule closes the groups of the others.

    Args:
        union: a query.
        catalog: with its views and buckets (`extend_catalog`).
    """
    if union.aggregation is None or union.aggregation.session_us is not None:
        return  # of sessions NULL is a key as any other
    for name in union.aggregation.group:
        valued = list_valued(union, (name,))
        if not valued or len(valued) == len(union.disjuncts):
            continue
        if next(find_closed_groups(replace(union, disjuncts=valued), catalog), None) is not None:
            yield LeaveNulls(name)
