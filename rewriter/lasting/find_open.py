"""Solutions that have been open for some time, in SPARQL."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.absence.unite_solutions import Solutions, Uniting, unite_solutions
from ontoweir.rewriter.model.spj import (
    Attribute,
    LiteralOutput,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
)
from ontoweir.rewriter.standing.find_standing import find_standing
from ontoweir.rewriter.standing.standing_rows import KEY


def find_open(
    every: Solutions, within: Solutions, head: Sequence[str], catalog: Catalog, *, distinct: bool
) -> SpjUnion | None:
    """The query of the solutions that no row ends within some time, which hold from then on until a
    later row ends them (None: find_standing reads none of `every`).

    Args:
        every: the solutions beside which there is no later row at any time.
        within: the same, beside which there is none within the time.
        head: the answer variables.
        catalog: the tables.
        distinct: an answer holds once, however many rows say so.

    Raises:
        QueryError: of a variable it is not known what it is.
    """
    if len(every.parts) != 1 or len(within.parts) != 1:
        return None
    hits, keys, present = within.parts[0]
    shown = tuple(dict.fromkeys((*head, *every.times, *keys)))

    def wait(rows: SpjUnion) -> SpjUnion:
        part = (hits, keys, present)
        waiting = Solutions(rows, every.times, (part,), ())
        names = (*head, *(n for n in rows.variables if n.startswith(KEY)))
        made = unite_solutions(
            f"{rows.name}_1",
            names,
            [waiting],
            catalog,
            distinct=False,
            source=rows.source or Source("", 1),
            how=Uniting(),
        )
        return replace(made, disjuncts=tuple(map(_show_kinds, made.disjuncts)))

    made = find_standing([every], shown, catalog, distinct=distinct, wait=wait)
    return None if made is None else replace(made, name=every.found.name)


def _show_kinds(query: SpjQuery) -> SpjQuery:
    """A query whose keys of several kinds are told apart by a column, which is a text."""
    outputs = tuple(
        (n, LiteralOutput(o.parts[0]))
        if n.startswith(KEY)
        and isinstance(o, TemplateLiteralOutput)
        and isinstance(o.parts[0], Attribute)
        else (n, o)
        for n, o in query.outputs
    )
    return replace(query, outputs=outputs)
