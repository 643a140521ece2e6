"""Solutions beside which there is no later one of something else, in SPARQL."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.absence.unite_solutions import Solutions
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion
from ontoweir.rewriter.standing.make_standing import make_standing
from ontoweir.rewriter.standing.read_hit import Hit, read_hit, show_key
from ontoweir.rewriter.standing.standing_rows import KEY


def find_standing(
    alternatives: Sequence[Solutions], head: Sequence[str], catalog: Catalog, *, distinct: bool
) -> SpjUnion | None:
    """The query of the solutions that no later row has ended: FILTER NOT EXISTS { … } of patterns
    at any time later, which share terms with them: the key.

    None: it says something else; or what it says is of several rows at once.

    Args:
        alternatives: the solutions.
        head: the answer variables.
        catalog: the tables.
        distinct: an answer holds once, however many rows say so.
    """
    if len(alternatives) != 1 or len(alternatives[0].parts) != 1 or alternatives[0].missing:
        return None
    (one,) = alternatives
    ((hits, _, present),) = one.parts
    found = one.found
    shapes = found.ends or found.begins or found.blocks or hits.ends or hits.begins or hits.blocks
    if present or shapes or not found.disjuncts or not hits.disjuncts:
        return None
    known = {**extend_catalog(catalog, found).streams, **extend_catalog(catalog, hits).streams}
    stamps = {name: s.timestamp for name, s in known.items()}
    if any(sum(o.table in stamps for o in q.occurrences) != 1 for q in found.disjuncts):
        return None
    ended: list[dict[SpjQuery, Hit]] = [{} for _ in found.disjuncts]
    for both in hits.disjuncts:
        of = [(n, read_hit(q, both, one.times, stamps)) for n, q in enumerate(found.disjuncts)]
        place, hit = next(((n, h) for n, h in of if h is not None), (0, None))
        if hit is None:
            return None
        ended[place][hit.ender] = hit
    inclusive = {h.inclusive for of in ended for h in of.values()}
    if any(of.keys() != ended[0].keys() for of in ended) or len(inclusive) != 1:
        return None
    rows, size = [], 0
    for query, enders in zip(found.disjuncts, ended, strict=True):
        keys = {hit.own for hit in enders.values()}
        if len(keys) != 1:
            return None
        (own,) = keys
        size = len(own)
        outputs = tuple((n, dict(query.outputs)[n]) for n in head)
        rows.append(replace(query, outputs=(*outputs, *show_key(own))))
    names = tuple(f"{KEY} {n + 1}" for n in range(size))
    ending = replace(hits, variables=names, disjuncts=tuple(ended[0]), distinct=False, hidden=())
    union = replace(found, variables=(*head, *names), disjuncts=tuple(rows), distinct=False)
    # each row ends the earlier ones of its key, of whichever disjunct these are
    among = all(any(h.replaced for h in of.values()) for of in ended)
    replaced = among and inclusive == {False}
    how = Standing(
        names,
        inclusive=inclusive == {True},
        replaced=replaced,
        hidden=names,
        distinct=distinct,
    )
    both_known = extend_catalog(extend_catalog(catalog, found), hits)
    return make_standing(union, ending, how, both_known)
