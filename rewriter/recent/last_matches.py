"""Matches of several rows beside which there is no later one of their key, as those of a stream."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog, IntType
from ontoweir.rewriter.absence.unite_solutions import Solutions, unite_solutions
from ontoweir.rewriter.clauses.list_items import (
    Item,
    ItemKind,
    is_select,
    list_items,
    list_variables,
)
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import ConstantOutput, SpjUnion
from ontoweir.rewriter.standing.make_standing import make_standing
from ontoweir.rewriter.standing.standing_rows import KEY
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_TIMED = (ItemKind.GRAPH, ItemKind.FILTER)
_ALL = ConstantOutput("1", is_iri=False, kind=IntType())
"""The key of all matches together."""


def last_matches(
    text: str,
    alternatives: Sequence[Solutions],
    head: Sequence[str],
    catalog: Catalog,
    source: Source,
    *,
    distinct: bool,
) -> SpjUnion | None:
    """The query of matches of which the latest of each key hold, whatever rows make them (without
    a key of the stream, two properties of a subject may be two rows): they are a stream, of which
    later ones of a key replace those before.

    None: the text says something else than `GRAPH ?t { A } FILTER NOT EXISTS { GRAPH ?u { B }
    FILTER(?u > ?t) }`, where B is A with variables of its own but for the key (which there may be
    none of), beside static patterns of the key; or there is no such stream.

    Args:
        text: the query.
        alternatives: its solutions.
        head: the answer variables.
        catalog: the tables.
        source: where the query is.
        distinct: an answer holds once, however many matches say so.
    """
    key = _read_key(text)
    if key is None or len(alternatives) != 1 or alternatives[0].missing:
        return None
    (one,) = alternatives
    found = replace(one.found, distinct=False)
    if found.ends or found.begins or found.blocks or len(one.times) != 1:
        return None
    shown = tuple(dict.fromkeys((*head, *key)))
    if not {*shown} <= {*found.variables} or not found.disjuncts:
        return None
    if any(getattr(o, "optional", False) for q in found.disjuncts for _, o in q.outputs):
        return None  # a stream has rows with all values
    try:
        union = unite_solutions(
            found.name,
            shown,
            [Solutions(found, one.times, (), ())],
            catalog,
            distinct=False,
            source=source,
        )
    except UnitsDiffer:
        raise  # it is compiled again, in steps that all streams have in common
    except QueryError:
        return None  # what is said of the whole names what was written
    names = tuple(f"{KEY} {n + 1}" for n in range(max(len(key), 1)))
    rows, enders = [], []
    for query in union.disjuncts:
        outputs = dict(query.outputs)
        terms = [outputs[v] for v in key] or [_ALL]
        told = tuple(zip(names, terms, strict=True))
        rows.append(replace(query, outputs=(*((v, outputs[v]) for v in head), *told)))
        enders.append(replace(query, outputs=told))
    return make_standing(
        replace(union, variables=(*head, *names), disjuncts=tuple(rows)),
        replace(union, variables=names, disjuncts=tuple(enders)),
        Standing(names, hidden=names, distinct=distinct),
        catalog,
    )


def _read_key(text: str) -> tuple[str, ...] | None:
    """The variables that both patterns have in common (None: it says something else)."""
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or is_select(tokens, opens):
        return None
    items = list_items(tokens, opens)
    absent = [i for i in items if i.kind is ItemKind.ABSENT]
    if len(absent) != 1 or len(absent[0].braces) != 1:
        return None
    mine = [i for i in items if i not in absent]
    inner = list_items(tokens, absent[0].braces[0][0])
    times = [_read_time(tokens, mine, ItemKind.TRIPLES, ItemKind.BIND), _read_time(tokens, inner)]
    if None in times or times[0] == times[1]:
        return None
    time, later = (t or "" for t in times)
    after = [i for i in inner if _compares(tokens, i, later, time)]
    if len(after) != 1:
        return None
    static = _list_static(tokens, mine)
    compared = [i for i in mine if i not in static and i.kind is not ItemKind.BIND]
    words = _list_words(tokens, compared)
    others = _list_words(tokens, [i for i in inner if i not in after])
    if len(words) != len(others):
        return None
    there: dict[str, str] = {}
    for one, other in zip(words, others, strict=True):
        if "var" not in (one.kind, other.kind):
            if one.text != other.text:
                return None
        elif one.kind != other.kind or there.setdefault(one.text, other.text) != other.text:
            return None
    own = {other[1:] for one, other in there.items() if one != other}
    around = {*list_variables(tokens, [n for i in mine for n in i.places])}
    if len({*there.values()}) < len(there) or own & around or there.get(time) != later:
        return None
    key = tuple(one[1:] for one, other in there.items() if one == other)
    apart = list_variables(tokens, [n for i in static for n in i.places])
    joined = list_variables(tokens, [n for i in compared for n in i.places])
    return key if {*apart} & {*joined} <= {*key} else None


def _list_static(tokens: Sequence[SparqlToken], items: Sequence[Item]) -> list[Item]:
    """The patterns outside of GRAPH, and the FILTERs of their variables alone."""
    triples = [i for i in items if i.kind is ItemKind.TRIPLES]
    bound = {*list_variables(tokens, [n for i in triples for n in i.places])}
    filters = [i for i in items if i.kind is ItemKind.FILTER]
    own = [i for i in filters if {*list_variables(tokens, i.places)} <= bound]
    return [*triples, *(own if triples else ())]


def _read_time(tokens: Sequence[SparqlToken], items: Sequence[Item], *more: ItemKind) -> str | None:
    """The variable of the one time of patterns in GRAPH, and FILTERs (None: there are others)."""
    times = {tokens[i.first + 1].text for i in items if i.kind is ItemKind.GRAPH}
    if len(times) != 1 or any(i.kind not in (*_TIMED, *more) for i in items):
        return None
    if any(i.braces for i in items if i.kind is ItemKind.FILTER):
        return None
    (time,) = times
    return time if time[:1] in "?$" else None


def _compares(tokens: Sequence[SparqlToken], item: Item, later: str, time: str) -> bool:
    """Whether it is FILTER(?later > ?time)."""
    if item.kind is not ItemKind.FILTER:
        return False
    words = [t.text for t in tokens[item.first + 1 : item.last + 1]]
    return words in (["(", later, ">", time, ")"], ["(", time, "<", later, ")"])


def _list_words(tokens: Sequence[SparqlToken], items: Sequence[Item]) -> list[SparqlToken]:
    """The tokens of items, but for full stops at the end of a group."""
    made = []
    for item in items:
        for n in item.places:
            closing = n + 1 < len(tokens) and tokens[n + 1].text == "}"
            if not (tokens[n].text == "." and closing):
                made.append(tokens[n])
    return made
