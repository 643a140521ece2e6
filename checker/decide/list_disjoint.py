"""Parts of a query whose answers no other part has."""

from collections.abc import Iterator
from dataclasses import replace

from ontoweir.rewriter.model.spj import NullOutput, SpjUnion


def list_disjoint(union: SpjUnion) -> Iterator[SpjUnion]:
    """Of a query that reads answers of others, the disjuncts that do not, where they show a value
    in a column in which all the others show none, as an outer join does.

    Such a part is a query of its own: its answers are those of the whole with a value in that
    column. So a witness against it is one against the whole.
    """
    if union.aggregation is not None:
        return
    streams = {block.stream.name for block in union.blocks}
    for name in union.variables:
        chosen = tuple(
            q for q in union.disjuncts if not isinstance(dict(q.outputs)[name], NullOutput)
        )
        tables = {o.table for q in chosen for o in q.occurrences}
        if 0 < len(chosen) < len(union.disjuncts) and not tables & streams:
            yield replace(union, disjuncts=chosen, blocks=())
