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
    # the streams of one that contains another are among its tables: only those are looked at
    streams = [{o.table for o in q.occurrences} & catalog.streams.keys() for q in reduced]
    kept: dict[int, SpjQuery] = {}
    reading: dict[str, dict[int, None]] = {}  # those of `kept` that have a stream
    plain: dict[int, None] = {}  # and those that have none
    for place, query in enumerate(reduced):
        mine = streams[place]
        near = sorted({*plain, *(n for name in mine for n in reading.get(name, ()))})
        wider = [n for n in (near if mine else kept) if mine <= streams[n]]
        try:
            if any(is_contained(query, kept[n], catalog) for n in near if streams[n] <= mine):
                continue
            gone = [n for n in wider if is_contained(kept[n], query, catalog)]
        except QueryError:  # too long a search: it stays
            gone = []
        for n in gone:
            del kept[n]
            plain.pop(n, None)
            for name in streams[n]:
                del reading[name][n]
        kept[place] = query
        for name in mine:
            reading.setdefault(name, {})[place] = None
        if not mine:
            plain[place] = None
    return replace(union, disjuncts=tuple(kept.values()))


def _without_redundant(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Without redundant occurrences, where they are found in good time."""
    try:
        return remove_redundant_occurrences(query, catalog, limit=MAX_STEPS)
    except QueryError:
        return query
