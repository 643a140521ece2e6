"""Compiles a query over streams of different units of time: in steps that they have in common."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import gcd

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
            if step_us is None:
                return union
            finer = gcd(step_us, *_list_steps(union))
            if finer == step_us:
                return count_in_steps(union, step_us)
            step_us, catalog = finer, share_steps(catalog, finer)


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


def _list_steps(union: SpjUnion) -> Iterator[int]:
    """The steps of a query, and of those that it reads, which were compiled in their own."""
    if union.step_us is not None:
        yield union.step_us
    for block in union.blocks:
        for inner in (block.union, *block.queries):
            yield from _list_steps(inner)
    for part in () if union.joined is None else union.joined.parts:
        yield from _list_steps(part.query)


def _refuse_units(union: SpjUnion, catalog: Catalog) -> None:
    """Raise UnitsDiffer for streams of different units that are joined, in the query or in those
    that it reads; whose matches are in the same groups, which are final together; or whose rows end
    each other."""
    for block in union.blocks:
        for inner in (block.union, *block.queries):
            _refuse_units(inner, extend_catalog(catalog, inner))
    read = [{o.table for o in query.occurrences} for query in union.disjuncts]
    together = (union.aggregation, union.standing, union.joined)
    if read and any(how is not None for how in together):
        read = [set.union(*read)]
    for names in read:
        tables = names & catalog.streams.keys()
        steps = sorted({catalog.streams[name].step_us for name in tables})
        if len(steps) > 1:
            raise UnitsDiffer.of(steps[0], steps[1], union.source)
