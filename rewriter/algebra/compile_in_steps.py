"""Compiles a query over streams of different units of time: in steps that they have in common."""

from collections.abc import Callable
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.share_steps import UnitsDiffer, share_steps
from ontoweir.rewriter.model.spj import SpjUnion


def compile_in_steps(compile_: Callable[[Catalog], SpjUnion], catalog: Catalog) -> SpjUnion:
    """A compiled query, over the coarsest steps in which its streams meet."""
    step_us: int | None = None
    while True:
        try:
            union = compile_(catalog)
            _refuse_units(union, extend_catalog(catalog, union))
        except UnitsDiffer as units:  # a proper divisor each time
            step_us = units.step_us
            catalog = share_steps(catalog, step_us)
        else:
            return union if step_us is None else count_in_steps(union, step_us)


def count_in_steps(union: SpjUnion, step_us: int) -> SpjUnion:
    """The query over such steps, with the queries that it reads: each is planned by itself.

    Args:
        union: a query that was compiled over a catalog whose streams share the steps.
        step_us: their length in µs.
    """
    blocks = []
    for block in union.blocks:
        absence = block.absence
        if absence is not None:
            parts = (replace(p, hits=count_in_steps(p.hits, step_us)) for p in absence.parts)
            absence = replace(absence, parts=tuple(parts))
        blocks.append(replace(block, union=count_in_steps(block.union, step_us), absence=absence))
    joined = union.joined
    if joined is not None:
        inner = (replace(p, query=count_in_steps(p.query, step_us)) for p in joined.parts)
        joined = replace(joined, parts=tuple(inner))
    return replace(union, step_us=step_us, blocks=tuple(blocks), joined=joined)


def _refuse_units(union: SpjUnion, catalog: Catalog) -> None:
    """Raise UnitsDiffer for streams of different units that are joined, in the query or in those
    that it reads; or whose matches are in the same groups, which are final together."""
    for block in union.blocks:
        for inner in (block.union, *block.queries):
            _refuse_units(inner, extend_catalog(catalog, inner))
    read = [{o.table for o in query.occurrences} for query in union.disjuncts]
    if union.aggregation is not None and read:
        read = [set.union(*read)]
    for names in read:
        tables = names & catalog.streams.keys()
        steps = sorted({catalog.streams[name].step_us for name in tables})
        if len(steps) > 1:
            raise UnitsDiffer.of(steps[0], steps[1], union.source)
