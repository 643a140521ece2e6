"""A set query without what its other parts answer."""

from dataclasses import replace

from ontoweir.checker.normalise.relax_chains import relax_chains
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion
from ontoweir.rewriter.passes.remove_redundant_occurrences import remove_redundant_occurrences

MAX_STEPS = 20_000
"""How long redundant occurrences are looked for: a query with all of them is decided, too."""


def reduce_union(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """A set query without redundant occurrences, then without contained disjuncts ([A] 8.1).

    Parts of aggregates keep their disjuncts: another one may give a group, but not its minimum.
    """
    reduced = [_without_redundant(q, catalog) for q in union.disjuncts]
    reduced = [relax_chains(q, catalog) for q in reduced]
    if any(query.folds is not None for query in reduced):
        return replace(union, disjuncts=tuple(reduced))
    kept: list[SpjQuery] = []
    for query in reduced:
        try:
            if any(is_contained(query, other, catalog) for other in kept):
                continue
            kept = [other for other in kept if not is_contained(other, query, catalog)]
        except QueryError:  # too long a search: it stays
            pass
        kept.append(query)
    return replace(union, disjuncts=tuple(kept))


def _without_redundant(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Without redundant occurrences, where they are found in good time."""
    try:
        return remove_redundant_occurrences(query, catalog, limit=MAX_STEPS)
    except QueryError:
        return query
