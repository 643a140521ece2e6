"""SELECT * within a query shows the times of its GRAPHs to patterns around it that have them."""

from collections.abc import Iterator, Sequence

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import (
    ItemKind,
    close_of,
    is_select,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_HIDDEN = (ItemKind.ABSENT, ItemKind.PRESENT, ItemKind.MINUS, ItemKind.FILTER)


def spell_stars(text: str) -> str:
    """The text in which a SELECT * within another one, whose GRAPHs have times that are also around
    it, names all its variables (SPARQL 1.1, 18.2.1), these times among them.

    Args:
        text: a query.
    """
    while True:
        edit = Edit(text) if "*" in text else None
        found = None if edit is None else next(_find_stars(edit.tokens), None)
        if edit is None or found is None:
            return text
        star, names = found
        edit.put(star, " ".join(f"?{name}" for name in names))
        text = edit.finish()


def _find_stars(tokens: Sequence[SparqlToken]) -> Iterator[tuple[int, list[str]]]:
    """The places of *, from within, and the variables that each stands for."""
    for opens in reversed(range(1, len(tokens))):
        if tokens[opens].text != "{" or not is_select(tokens, opens):
            continue
        star = opens + 2 + (tokens[opens + 2].text.upper() in ("DISTINCT", "REDUCED"))
        body = _find_body(tokens, opens)
        if star >= body or tokens[star].text != "*":
            continue
        times = {
            tokens[n + 1].text[1:]
            for n in range(body, close_of(tokens, body))
            if tokens[n].text.upper() == "GRAPH" and tokens[n + 1].kind == "var"
        }
        names = list(dict.fromkeys(list_scope(tokens, body)))
        outside = {*range(len(tokens))} - {*range(opens, close_of(tokens, opens))}
        if times & {*names} & {*list_variables(tokens, sorted(outside))}:
            yield star, names


def _find_body(tokens: Sequence[SparqlToken], opens: int) -> int:
    """The brace that opens the patterns of a SELECT in braces."""
    return next((n for n in range(opens + 1, len(tokens)) if tokens[n].text == "{"), opens)


def list_scope(tokens: Sequence[SparqlToken], opens: int) -> Iterator[str]:
    """The variables that a group gives values to, in the order of the text."""
    for item in list_items(tokens, opens):
        if item.kind in _HIDDEN:
            continue
        if item.kind is ItemKind.BIND:
            yield from list_variables(tokens, item.places)[-1:]
        elif item.kind in (ItemKind.TRIPLES, ItemKind.VALUES):
            yield from list_variables(tokens, item.places)
        else:
            yield from list_variables(tokens, range(item.first, item.braces[0][0]))
            for inner, _ in item.braces:
                yield from _list_shown(tokens, inner)


def _list_shown(tokens: Sequence[SparqlToken], opens: int) -> Iterator[str]:
    """The variables of a group, or those that the SELECT in its place shows."""
    if not is_select(tokens, opens):
        yield from list_scope(tokens, opens)
        return
    body = _find_body(tokens, opens)
    if tokens[body - 1].text == "*" or tokens[body - 2].text == "*":
        yield from list_scope(tokens, body)
        return
    n = opens + 2
    while n < body:
        close = close_of(tokens, n) if tokens[n].text == "(" else n
        if tokens[close - (close > n)].kind == "var":
            yield tokens[close - (close > n)].text[1:]
        n = close + 1
