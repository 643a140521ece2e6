"""Solutions beside which there is no later one of something else, in SPARQL."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, StringType
from ontoweir.rewriter.absence.unite_solutions import Solutions
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import (
    ConstantOutput,
    Output,
    SpjQuery,
    SpjUnion,
    View,
    output_attributes,
)
from ontoweir.rewriter.standing.make_standing import make_standing, unite_hits
from ontoweir.rewriter.standing.read_hit import Hit, is_among, read_hit, show_key
from ontoweir.rewriter.standing.standing_rows import KEY
from ontoweir.rewriter.standing.widen_keys import widen_keys
from ontoweir.rewriter.views.expand_views import expand_unions

_MOST = 10_000
"""So many branches of views are looked at."""


def find_standing(
    alternatives: Sequence[Solutions],
    head: Sequence[str],
    catalog: Catalog,
    *,
    distinct: bool,
    wait: Callable[[SpjUnion], SpjUnion] | None = None,
) -> SpjUnion | None:
    """The query of the solutions that no later row has ended: FILTER NOT EXISTS { … } of patterns
    at any time later, which share terms with them: the key.

    None: it says something else; or what it says is of several rows at once.

    Args:
        alternatives: the solutions.
        head: the answer variables.
        catalog: the tables.
        distinct: an answer holds once, however many rows say so.
        wait: makes of the rows, with their keys, those that begin to hold later (None: they hold
            from their own time on).
    """
    if len(alternatives) != 1 or not alternatives[0].parts or alternatives[0].missing:
        return None
    (one,) = alternatives
    present = any(is_there for _, _, is_there in one.parts)
    hits = unite_hits([union for union, _, _ in one.parts])
    if hits is None:
        return None
    found = expand_unions(one.found, _MOST) or one.found
    blocks = hits.blocks or any(block.meeting is None for block in found.blocks)
    shapes = found.ends or found.begins or blocks or hits.ends or hits.begins
    if present or shapes or not found.disjuncts or not hits.disjuncts:
        return None
    known = {**extend_catalog(catalog, found).streams, **extend_catalog(catalog, hits).streams}
    stamps = {name: s.timestamp for name, s in known.items()}
    if any(sum(o.table in stamps for o in q.occurrences) != 1 for q in found.disjuncts):
        return None
    read = _read_hits(found, hits, one.times, stamps)
    if read is None:
        return None
    widened = widen_keys(found.disjuncts, *read, stamps)
    if widened is None:
        return None
    ended, all_enders = widened
    inclusive = {(h.inclusive, h.ever) for of in ended for h in of.values()}
    kinds = list(dict.fromkeys(frozenset(of) for of in ended))
    whole = dict.fromkeys(ender for of in ended for ender in of)
    if not all(ended) or len(inclusive) != 1 or len(whole) != sum(map(len, kinds)):
        return None  # rows of one end some of another disjunct's, and not all
    shown = _show_rows(found, ended, kinds, head)
    if shown is None:
        return None
    rows, size = shown
    names = tuple(f"{KEY} {n + 1}" for n in range(size))
    of_kind = {ender: kind for kind in kinds for ender in kind}
    ends = [
        replace(q, outputs=(*q.outputs, *_show_kind(kinds, of_kind[n], len(q.outputs))))
        for n, q in ((n, all_enders[n]) for n in whole)
    ]
    ending = replace(hits, variables=names, disjuncts=tuple(ends), distinct=False, hidden=())
    union = replace(found, variables=(*head, *names), disjuncts=rows, distinct=False)
    # each row ends the earlier ones of its key, of whichever disjunct these are
    among = all(any(h.replaced for h in of.values()) for of in ended)
    # once they have waited, too: an earlier one was ended within its wait, or before
    replaced = among and inclusive == {(False, False)}
    how = Standing(
        names,
        inclusive=inclusive != {(False, False)} and wait is None,
        replaced=replaced,
        hidden=names,
        distinct=distinct,
        ever=inclusive == {(True, True)} and wait is None,
        waited=wait is not None,
    )
    both_known = extend_catalog(extend_catalog(catalog, found), hits)
    if wait is not None:
        union = wait(union)
    return make_standing(union, ending, how, both_known)


def _show_rows(
    found: SpjUnion,
    ended: Sequence[Mapping[int, Hit]],
    kinds: Sequence[frozenset[int]],
    head: Sequence[str],
) -> tuple[tuple[SpjQuery, ...], int] | None:
    """The rows with their keys, which have so many variables (None: they have several)."""
    rows, sizes = [], set[int]()
    for query, enders in zip(found.disjuncts, ended, strict=True):
        keys = {hit.own for hit in enders.values()}
        if len(keys) != 1:
            return None
        (own,) = keys
        sizes.add(len(own))
        outputs = tuple((n, dict(query.outputs)[n]) for n in head)
        kind = _show_kind(kinds, frozenset(enders), len(own))
        rows.append(replace(query, outputs=(*outputs, *show_key(own), *kind)))
    return (tuple(rows), next(iter(sizes)) + (len(kinds) > 1)) if len(sizes) == 1 else None


def _read_hits(
    found: SpjUnion, hits: SpjUnion, times: Sequence[str], stamps: Mapping[str, str]
) -> tuple[list[dict[int, Hit]], list[SpjQuery]] | None:
    """What ends the rows of each disjunct, by the number of its query, and these queries, which are
    distinct (None: it is not read as such). A hit's own `ender` may have several of these."""
    ended: list[dict[int, Hit]] = [{} for _ in found.disjuncts]
    opened: dict[SpjQuery, list[tuple[int, SpjQuery]]] = {}
    numbers: dict[SpjQuery, int] = {}
    opens = _open_rows(hits, times)
    if opens is None:
        return None
    places: dict[str, list[int]] = {}
    for n, query in enumerate(found.disjuncts):
        for table in {o.table for o in query.occurrences}:
            places.setdefault(table, []).append(n)
    for both in opens:
        near = dict.fromkeys(n for o in both.occurrences for n in places.get(o.table, ()))
        of = ((n, read_hit(found.disjuncts[n], both, times, stamps)) for n in near)
        place, hit = next(((n, h) for n, h in of if h is not None), (0, None))
        if hit is None:
            return None
        if hit.ender not in opened:
            apart = _open(hits, hit.ender, hits.views)
            if apart is None:
                return None
            opened[hit.ender] = [(numbers.setdefault(q, len(numbers)), q) for q in apart]
        row, alike = _as_base(found.disjuncts[place], found), replace(hit, replaced=True)
        for number, ender in opened[hit.ender]:
            among = hit.replaced or is_among(row, ender, hit.own)
            ended[place][number] = alike if among else hit
    return ended, list(numbers)


def _as_base(row: SpjQuery, found: SpjUnion) -> SpjQuery:
    """A row that has met one of a relation that changes as the row of its stream that it is."""
    base = {b.stream.name: b.meeting.base for b in found.blocks if b.meeting is not None}
    made = list(row.occurrences)
    for n, occurrence in enumerate(made):
        while occurrence.table in base:
            occurrence = replace(occurrence, table=base[occurrence.table])
        made[n] = occurrence
    return replace(row, occurrences=tuple(made))


def _show_kind(
    kinds: Sequence[frozenset[int]], kind: frozenset[int], size: int
) -> tuple[tuple[str, Output], ...]:
    """What tells keys of several kinds apart, which are never equal: terms of other templates."""
    if len(kinds) == 1:
        return ()
    number = ConstantOutput(str(kinds.index(kind)), is_iri=False, kind=StringType())
    return ((f"{KEY} {size + 1}", number),)


def _open(hits: SpjUnion, query: SpjQuery, views: Sequence[View]) -> tuple[SpjQuery, ...] | None:
    """A query with the branches of some views apart (None: there are too many, or one is no query
    over the tables)."""
    tables = {o.table for o in query.occurrences}
    read = tuple(v for v in views if v.name in tables and not v.distinct)
    if not read:
        return (query,)
    made = expand_unions(replace(hits, disjuncts=(query,), views=read), _MOST)
    return None if made is None else made.disjuncts


def _open_rows(hits: SpjUnion, times: Sequence[str]) -> list[SpjQuery] | None:
    """The rows beside which there is a later one, with the branches of the view of the former
    apart; the later one is of a view still, as it is the same for all (None: they are too many)."""
    made: list[SpjQuery] = []
    for both in hits.disjuncts:
        outputs = dict(both.outputs)
        own = {a.alias for n in times if n in outputs for a in output_attributes(outputs[n])}
        tables = [o.table for o in both.occurrences if o.alias in own]
        views = [v for v in hits.views if v.name in tables]
        others = {o.table for o in both.occurrences if o.alias not in own}
        if any(v.name in others for v in views):
            views = list(hits.views)
        apart = _open(hits, both, views)
        if apart is None:
            return None
        made += apart
    return made
