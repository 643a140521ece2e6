"""Says why no data gives an answer."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.diagnostics import Reason
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion
from ontoweir.rewriter.passes.explain_contradiction import explain_contradiction
from ontoweir.rewriter.passes.explain_first import explain_first

_WHAT = "no data gives an answer"


def explain_never(union: SpjUnion, empty: Sequence[SpjQuery], catalog: Catalog) -> Reason:
    """Why a query is unsatisfiable: what excludes each other, each at its place.

    Args:
        union: the query.
        empty: its disjuncts, none of which has a row.
        catalog: what is declared, with the union's views.
    """

    def why(query: SpjQuery, known: Catalog) -> str | None:
        if (said := find_contradiction(query, known)) is not None:
            return said
        form = normalise_query(query, distinct=union.distinct, catalog=known)
        return None if form.satisfiable else "what is declared excludes what it asks for"

    ways = [partial(explain_contradiction, query, catalog, why) for query in empty]
    found = explain_first(ways) or union.excluded
    if len(found) == 1:
        return replace(found[0], message=f"{_WHAT}: {found[0].message}")
    if not found:
        return Reason(f"{_WHAT}: a condition is true of nothing")
    return Reason(f"{_WHAT}, however it is matched", because=found)
