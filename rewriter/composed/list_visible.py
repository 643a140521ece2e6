"""The variables of an item of a SPARQL group that those around it see."""

from collections.abc import Iterable, Sequence

from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    close_of,
    is_select,
    list_items,
    list_variables,
)
from ontoweir.rewriter.composed.read_select import read_select
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens


def list_visible(tokens: Sequence[SparqlToken], item: Item) -> set[str]:
    """The variables of an item, of subqueries those alone that they show (SPARQL 1.1, 12).

    Args:
        tokens: of the text.
        item: of a group.
    """
    found: set[str] = set()
    n = item.first
    while n <= item.last:
        shown = _list_shown(tokens, n)
        if shown is not None:
            found |= set(shown)
            n = close_of(tokens, n)
        elif tokens[n].kind == "var":
            found.add(tokens[n].text[1:])
        n += 1
    return found


def list_given(
    tokens: Sequence[SparqlToken], items: Iterable[Item], *, optional: bool = False
) -> set[str]:
    """The variables that items give values to (18.2.1: that are in scope behind them); `optional`:
    those of OPTIONAL too.

    Args:
        tokens: of the text.
        items: of a group.
        optional: whether OPTIONAL is one of them.
    """
    found: set[str] = set()
    for item in items:
        if item.kind is ItemKind.BIND:
            found |= set(list_variables(tokens, item.places)[-1:])
        elif item.kind is ItemKind.GROUP or (optional and item.kind is ItemKind.OPTIONAL):
            for opens, _ in item.braces:
                shown = _list_shown(tokens, opens)
                inner = () if shown is not None else list_items(tokens, opens)
                found |= set(shown or ()) | list_given(tokens, inner, optional=optional)
        elif item.kind not in CLAUSES and item.kind is not ItemKind.FILTER:
            found |= list_visible(tokens, item)
    return found


def list_asked(text: str) -> tuple[str, ...]:
    """Nothing at all (""), and variables that have a value in every solution, in the order of
    their names; of another query than ASK none.

    Args:
        text: the query.
    """
    tokens = Tokens(text).tokens
    start = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    words = [t.text.upper() for t in tokens[:start] if t.kind == "word"]
    if start is None or "ASK" not in words:
        return ()
    return ("", *sorted(list_given(tokens, list_items(tokens, start))))


def _list_shown(tokens: Sequence[SparqlToken], opens: int) -> tuple[str, ...] | None:
    """What a subquery shows (None: a brace opens none, or it shows all)."""
    if tokens[opens].text != "{" or not is_select(tokens, opens):
        return None
    inner = next((n for n in range(opens + 1, len(tokens)) if tokens[n].text == "{"), opens)
    head = read_select(tokens, opens, inner)
    return None if head is None or head.is_all else head.names
