"""The latest time of groups inside of a query, as that of rows without later ones."""

from collections.abc import Sequence

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import Item, ItemKind, close_of, is_select, list_items
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_PLAIN = {ItemKind.GRAPH, ItemKind.TRIPLES, ItemKind.FILTER}


def last_groups(text: str) -> str | None:
    """`{ SELECT ?k (MAX(?t) AS ?last) { GRAPH ?t { … } FILTER NOT EXISTS { GRAPH ?u { … }
    FILTER(?u > ?t) } } GROUP BY ?k }` for the same without FILTER, inside of a query: the latest
    time is that of the latest rows, of which no others are kept (None: there are no such groups).

    Args:
        text: a query.
    """
    edit, changed = Edit(text), False
    tokens = edit.tokens
    for n, token in enumerate(tokens):
        if token.text != "{" or not is_select(tokens, n):
            continue
        opens = next((k for k in range(n + 1, len(tokens)) if tokens[k].text == "{"), None)
        if opens is None:
            continue
        made = _write_later(tokens, n, opens)
        if made is not None:
            edit.before(close_of(tokens, opens), made)
            changed = True
    return edit.finish() if changed else None


def _write_later(tokens: Sequence[SparqlToken], begins: int, opens: int) -> str | None:
    """That there is no later solution of a group (None: its latest time is not all that is told of
    it, or its solutions have no one time)."""
    end, closes = close_of(tokens, begins), close_of(tokens, opens)
    tail = tokens[closes + 1 : end]
    keys = [t.text for t in tail[2:]]
    grouped = [t.text.upper() for t in tail[:2]] == ["GROUP", "BY"]
    if not grouped or not keys or any(t.kind != "var" for t in tail[2:]):
        return None
    last = opens - (tokens[opens - 1].text.upper() == "WHERE")
    time = _read_time(tokens[begins + 2 : last], keys)
    items = list_items(tokens, opens)
    windows = any(t.text.upper() == "NOW" for t in tokens[opens:closes])
    if time is None or windows or any(i.kind not in _PLAIN for i in items):
        return None
    graphs = [i for i in items if i.kind is ItemKind.GRAPH]
    if len(graphs) != 1 or tokens[graphs[0].first + 1].text != time or _has_clauses(items):
        return None
    taken = {t.text for t in tokens if t.kind == "var"}
    names = {name: _name_anew(name, taken) for name in taken if name not in keys}
    said = " ".join(
        names.get(t.text, t.text) if t.kind == "var" else t.text for t in tokens[opens + 1 : closes]
    ).replace(" ^^ ", "^^")
    return f" FILTER NOT EXISTS {{ {said} FILTER({names[time]} > {time}) }} "


def _read_time(tokens: Sequence[SparqlToken], keys: Sequence[str]) -> str | None:
    """The variable of which the greatest value is told, of groups by some of the keys (None: more
    is told, or something else)."""
    told = None
    n = 0
    while n < len(tokens):
        if tokens[n].kind == "var" and tokens[n].text in keys:
            n += 1
            continue
        words = [t.text.upper() for t in tokens[n : n + 8]]
        if len(words) < 8 or told is not None or words[0] != "(" or words[1] != "MAX":
            return None
        variables = [tokens[n + k].kind == "var" for k in (3, 6)]
        if (words[2], words[4], words[5], words[7]) != ("(", ")", "AS", ")") or not all(variables):
            return None
        told = tokens[n + 3].text
        n += 8
    return told


def _has_clauses(items: Sequence[Item]) -> bool:
    """Whether a FILTER has EXISTS in it."""
    return any(i.kind is ItemKind.FILTER and i.braces for i in items)


def _name_anew(name: str, taken: set[str]) -> str:
    made = f"{name}_other"
    while made in taken:
        made += "_"
    return made
