"""A query over steps of time that its streams have in common."""

from dataclasses import replace

from ontoweir.rewriter.model.spj import SpjUnion


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
