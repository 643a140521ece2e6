"""The ways to match a query, without the joins that the rest of it covers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.trace_steps import OnStep, trace_steps
from ontoweir.rewriter.covered.remove_view_joins import remove_view_joins
from ontoweir.rewriter.model.spj import View
from ontoweir.rewriter.passes.prune_disjuncts import Candidate


def cover_joins(
    candidates: Iterable[Candidate], views: Sequence[View], catalog: Catalog, on_step: OnStep
) -> Iterator[Candidate]:
    """The candidates, numbered, without joins on sets of triples whose row is always there
    (remove_view_joins).

    Args:
        candidates: over the tables of `catalog`, views among them.
        views: all that they may read.
        on_step: hears of what is removed.
    """
    for number, candidate in enumerate(candidates, 1):
        made = remove_view_joins(candidate.query, views, catalog)
        for step in trace_steps("joins on triples", number, candidate.query, made):
            on_step(step)
        yield replace(candidate, query=made, number=number)
