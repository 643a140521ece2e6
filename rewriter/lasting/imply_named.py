"""What comes after a row of a window, which is in it too, in SPARQL."""

from collections.abc import Iterator, Sequence

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import (
    Item,
    ItemKind,
    is_now,
    is_select,
    list_items,
    list_variables,
)
from ontoweir.rewriter.lasting.list_conjuncts import list_conjuncts
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_BESIDE = (ItemKind.ABSENT, ItemKind.PRESENT, ItemKind.OPTIONAL)
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def imply_named(text: str) -> str | None:
    """`FILTER(?t > NOW() - d) FILTER NOT EXISTS { GRAPH ?u { … } FILTER(?u > ?t) }` with the window
    of ?t, which follows, said of ?u too; of EXISTS and OPTIONAL likewise (None: there is none).

    Args:
        text: a query.
    """
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or not any(map(is_now, tokens)):
        return None
    edit, made = Edit(text), False
    for group in _list_groups(tokens, opens):
        items = list_items(tokens, group)
        for item in items:
            if item.kind not in _BESIDE or len(item.braces) != 1:
                continue
            if any(is_now(tokens[n]) for n in _list_own(tokens, item)):
                continue
            for earlier, later in _list_later(tokens, item):
                for sign, now in _list_windows(tokens, items, earlier):
                    last = tokens[now[-1]]
                    said = text[tokens[now[0]].offset : last.offset + len(last.text)]
                    said = said.replace("\n", " ")
                    edit.before(item.braces[0][1], f" FILTER(?{later} {sign} {said}) ")
                    made = True
    return edit.finish() if made else None


def _list_groups(tokens: Sequence[SparqlToken], opens: int) -> Iterator[int]:
    """Where groups open, from the outermost on, also those of subqueries."""
    if is_select(tokens, opens):
        opens = next(n for n in range(opens + 1, len(tokens)) if tokens[n].text == "{")
    yield opens
    for item in list_items(tokens, opens):
        if item.kind not in (ItemKind.VALUES, ItemKind.GRAPH):
            for inner, _ in item.braces:
                yield from _list_groups(tokens, inner)


def _list_own(tokens: Sequence[SparqlToken], item: Item) -> Iterator[int]:
    """The places of the FILTERs that a clause has in its own braces."""
    if not is_select(tokens, item.braces[0][0]):
        for one in list_items(tokens, item.braces[0][0]):
            if one.kind is ItemKind.FILTER:
                yield from one.places


def _list_later(tokens: Sequence[SparqlToken], item: Item) -> Iterator[tuple[str, str]]:
    """Times around a clause, each with one of its own which is not before it."""
    opens = item.braces[0][0]
    inner = [] if is_select(tokens, opens) else list_items(tokens, opens)
    graphs = (tokens[i.first + 1] for i in inner if i.kind is ItemKind.GRAPH)
    own = {t.text[1:] for t in graphs if t.kind == "var"}
    for one in (i for i in inner if i.kind is ItemKind.FILTER and not i.braces):
        for places in list_conjuncts(tokens, one):
            words = [tokens[n].text for n in places]
            names = list_variables(tokens, places)
            if len(words) != 3 or len(names) != 2 or words[1] not in _TURNED:
                continue
            earlier, later = names if words[1].startswith("<") else names[::-1]
            if later in own and earlier not in own:
                yield earlier, later


def _list_windows(
    tokens: Sequence[SparqlToken], items: Sequence[Item], time: str
) -> Iterator[tuple[str, range]]:
    """What a group says a time to be later than: with a sign, the places of an expression of NOW()
    alone."""
    for item in (i for i in items if i.kind is ItemKind.FILTER and not i.braces):
        for places in list_conjuncts(tokens, item):
            signs = [n for n in places if tokens[n].text in _TURNED]
            if len(signs) != 1 or list_variables(tokens, places) != (time,):
                continue
            (place,) = signs
            left, right = range(places.start, place), range(place + 1, places.stop)
            sign = tokens[place].text
            if len(right) == 1:
                left, right, sign = right, left, _TURNED[sign]
            alone = len(left) == 1 and tokens[left[0]].kind == "var"
            if alone and sign.startswith(">") and any(is_now(tokens[n]) for n in right):
                yield sign, right
