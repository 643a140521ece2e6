"""Joins with the greatest time, or value, of each key as "no later, or greater, one"."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import NamedTuple

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import Item, ItemKind, close_of, is_select, list_items
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_Triple = tuple[str, str, str]
_AS_MORE = {"MAX": ">", "MIN": "<"}


class _Select(NamedTuple):
    """`{ SELECT ?key (MAX(?of) AS ?name) { GRAPH ?time { triples } } GROUP BY ?key }`: its places,
    the last one before its body, and what it says."""

    opens: int
    closes: int
    body: int
    sign: str
    of: str
    name: str
    keys: frozenset[str]
    time: str
    triples: tuple[_Triple, ...]


def turn_greatest(text: str) -> str:
    """`{ SELECT ?k (MAX(?u) AS ?t) { GRAPH ?u { B } } GROUP BY ?k } GRAPH ?t { A }` as `FILTER NOT
    EXISTS { GRAPH ?u { B } FILTER(?u > ?t) } GRAPH ?t { A }`, on its lines, with other variables in
    B: where A says of its own variables all that B says, so that no time of A is greater than the
    greatest of B. So are those with `GRAPH ?t { A } FILTER(?t = ?last)`, those of values, `(MAX(?v)
    AS ?most) { GRAPH ?u { ?r :p ?v } }` and `?x :p ?most` in A, and MIN. Another text is as it was.
    """
    while (made := _turn_one(text)) is not None:
        text = made
    return text


def _turn_one(text: str) -> str | None:
    tokens = Tokens(text).tokens
    for opens, token in enumerate(tokens):
        if token.text != "{" or is_select(tokens, opens):
            continue
        items = list_items(tokens, opens)
        for item in items:
            found = _read_select(tokens, item)
            if found is not None and (made := _turn(text, tokens, items, found)) is not None:
                return made
    return None


def _turn(
    text: str, tokens: Sequence[SparqlToken], items: Sequence[Item], found: _Select
) -> str | None:
    """The text without one of its SELECTs inside (None: it is needed)."""
    name, filters = found.name, [i for i in items if i.kind is ItemKind.FILTER]
    equal = next((f for f in filters if _equals(tokens, f, name)), None)
    place = name
    if equal is not None:
        (place,) = {t.text for t in _own(tokens, equal) if t.kind == "var"} - {name}
        inside = {*range(found.opens, found.closes), *equal.places}
        shown = {name, "*"}  # which would not be there any more
        if any(t.text in shown for n, t in enumerate(tokens) if n not in inside):
            return None
    for item in items:
        graph = _read_graph(tokens, item)
        if graph is None:
            continue
        time, triples = graph
        mine = {**{k: k for k in found.keys}, found.of: place}
        if found.of == found.time and time != place:
            continue
        mine[found.time] = time
        if place not in {time, *(o for _, _, o in triples)} or not _maps(
            found.triples, triples, mine
        ):
            continue
        return _write(text, found, equal, place)
    return None


def _write(text: str, found: _Select, equal: Item | None, place: str) -> str:
    edit = Edit(text)
    taken = {t.text for t in edit.tokens if t.kind == "var"}
    inner = range(found.body, close_of(edit.tokens, found.body) + 1)
    mine = {edit.tokens[n].text for n in inner if edit.tokens[n].kind == "var"} - found.keys
    other = next(n for n in count(1) if all(f"{v}_{n}" not in taken for v in mine))
    for n in inner:
        if edit.tokens[n].text in mine:
            edit.put(n, f"{edit.tokens[n].text}_{other}")
    edit.blank(found.opens, found.body - 1)
    edit.before(found.body, "FILTER NOT EXISTS ")
    edit.before(inner[-1], f" FILTER({found.of}_{other} {found.sign} {place}) ")
    edit.blank(inner[-1] + 1, found.closes)
    if equal is not None:
        edit.blank(equal.first, equal.last)
    return edit.finish()


def _read_select(tokens: Sequence[SparqlToken], item: Item) -> _Select | None:
    if item.kind is not ItemKind.GROUP or len(item.braces) != 1:
        return None
    opens, closes = item.braces[0]
    if not is_select(tokens, opens):
        return None
    body = next(n for n in range(opens + 1, closes + 1) if tokens[n].text in ("{", "}"))
    head = [t.text for t in tokens[opens + 2 : body] if t.text.upper() != "WHERE"]
    start = head.index("(") if "(" in head else len(head)
    called = [t.upper() for t in head[start : start + 8]]
    if len(called) != 8 or called[1] not in _AS_MORE:
        return None
    if (called[2], called[4], called[5], called[7]) != ("(", ")", "AS", ")"):
        return None
    of, name = head[start + 3], head[start + 6]
    keys = [*head[:start], *head[start + 8 :]]
    ends = close_of(tokens, body)
    groups = [t.text for t in tokens[ends + 1 : closes]]
    if [g.upper() for g in groups[:2]] != ["GROUP", "BY"] or set(groups[2:]) != set(keys):
        return None
    if not keys or not all(k.startswith("?") for k in (*keys, of, name)):
        return None
    inside = list_items(tokens, body)
    graph = _read_graph(tokens, inside[0]) if len(inside) == 1 else None
    if graph is None or name in {t.text for t in tokens[body:ends]}:
        return None
    time, triples = graph
    if of not in {time, *(o for _, _, o in triples)} or of in keys or time in keys:
        return None
    sign = _AS_MORE[called[1]]
    return _Select(opens, closes, body, sign, of, name, frozenset(keys), time, triples)


def _own(tokens: Sequence[SparqlToken], item: Item) -> list[SparqlToken]:
    return [tokens[n] for n in item.places]


def _equals(tokens: Sequence[SparqlToken], item: Item, name: str) -> bool:
    """Whether it is `FILTER(?t = ?last)`, or the other way round."""
    texts = [t.text for t in _own(tokens, item)][1:]
    plain = len(texts) == 5 and (texts[0], texts[2], texts[4]) == ("(", "=", ")")
    both = [t for t in texts if t.startswith("?")]
    return plain and name in both and len(set(both)) == 2


def _read_graph(
    tokens: Sequence[SparqlToken], item: Item
) -> tuple[str, tuple[_Triple, ...]] | None:
    """The time, and the triples, of GRAPH ?t { … } without anything else in it."""
    first = tokens[item.first]
    if first.text.upper() != "GRAPH" or len(item.braces) != 1:
        return None
    opens, closes = item.braces[0]
    if tokens[item.first + 1].kind != "var" or opens != item.first + 2:
        return None
    triples = _read_triples(tokens[opens + 1 : closes])
    return None if triples is None else (tokens[item.first + 1].text, triples)


def _read_triples(tokens: Sequence[SparqlToken]) -> tuple[_Triple, ...] | None:
    """Triples of plain terms."""
    made: list[_Triple] = []
    terms: list[str] = []
    for token in (*tokens, SparqlToken("op", ".", 0, 0)):
        if token.text in (".", ";", ","):
            if len(terms) == 3:
                made.append((terms[0], terms[1], terms[2]))
            elif terms and not (token.text == "." and len(terms) < 3 and made):
                return None
            terms = terms[: {".": 0, ";": 1, ",": 2}[token.text]]
        elif token.kind in ("var", "pname", "iri", "number", "string") or token.text == "a":
            terms.append(token.text)
        else:
            return None
    return tuple(made) or None


def _maps(inner: Sequence[_Triple], outer: Sequence[_Triple], known: Mapping[str, str]) -> bool:
    """Whether some variables of triples can be terms of others so that these say all of them."""
    if not inner:
        return True
    first, *rest = inner
    for triple in outer:
        made: dict[str, str] | None = dict(known)
        for mine, theirs in zip(first, triple, strict=True):
            assert made is not None
            if made.get(mine, mine if not mine.startswith("?") else theirs) != theirs:
                made = None
                break
            if mine.startswith("?"):
                made[mine] = theirs
        if made is not None and _maps(rest, outer, made):
            return True
    return False
