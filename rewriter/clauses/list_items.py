"""What stands in the braces of a SPARQL group, one after another."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ontoweir.rewriter.syntax.locate_tokens import SparqlToken


class ItemKind(StrEnum):
    """What an item of a group is."""

    TRIPLES = "triples"
    FILTER = "FILTER"
    BIND = "BIND"
    VALUES = "VALUES"
    GRAPH = "GRAPH"
    GROUP = "{ … }"
    ABSENT = "NOT EXISTS"
    PRESENT = "EXISTS"
    MINUS = "MINUS"
    OPTIONAL = "OPTIONAL"


CLAUSES = frozenset({ItemKind.ABSENT, ItemKind.PRESENT, ItemKind.MINUS, ItemKind.OPTIONAL})
"""What says what is beside a solution, or is not."""
_BRACED = {
    "GRAPH": ItemKind.GRAPH,
    "OPTIONAL": ItemKind.OPTIONAL,
    "MINUS": ItemKind.MINUS,
    "SERVICE": ItemKind.GROUP,
    "VALUES": ItemKind.VALUES,
}
_WORDS = {*_BRACED, "FILTER", "BIND", "UNION"}


@dataclass(frozen=True, slots=True)
class Item:
    """The places of its first and its last token; `braces`: the places of those that hold groups,
    several if it is a UNION, or a FILTER with EXISTS in its expression."""

    kind: ItemKind
    first: int
    last: int
    braces: tuple[tuple[int, int], ...] = ()

    @property
    def places(self) -> range:
        """The places of its tokens."""
        return range(self.first, self.last + 1)


def list_items(tokens: Sequence[SparqlToken], opens: int) -> list[Item]:
    """The items of the group that opens with a token, a brace."""
    found = []
    n, end = opens + 1, close_of(tokens, opens)
    while n < end:
        if tokens[n].text == ".":
            n += 1
            continue
        item = _read_item(tokens, n, end)
        found.append(item)
        n = item.last + 1
    return found


def close_of(tokens: Sequence[SparqlToken], opens: int) -> int:
    """The place of what closes a brace or parenthesis (else: the end of the text)."""
    depth = 0
    for n in range(opens, len(tokens)):
        text = tokens[n].text
        depth += 1 if text in ("{", "(") else -1 if text in ("}", ")") else 0
        if depth == 0:
            return n
    return len(tokens) - 1


def is_select(tokens: Sequence[SparqlToken], opens: int) -> bool:
    """Whether what a brace opens is a subquery."""
    return opens + 1 < len(tokens) and tokens[opens + 1].text.upper() == "SELECT"


def is_now(token: SparqlToken) -> bool:
    """Whether a token is the name of the function NOW."""
    return token.kind == "word" and token.text.upper() == "NOW"


def list_clauses(tokens: Sequence[SparqlToken], opens: int) -> Iterator[Item]:
    """The clauses anywhere in a group, and FILTERs with EXISTS in their expressions; but for those
    of subqueries."""
    if is_select(tokens, opens):
        return
    for item in list_items(tokens, opens):
        if item.kind in CLAUSES or (item.kind is ItemKind.FILTER and item.braces):
            yield item
        if item.kind is not ItemKind.VALUES:
            for inner, _ in item.braces:
                yield from list_clauses(tokens, inner)


def list_filters(tokens: Sequence[SparqlToken], opens: int) -> Iterator[Item]:
    """The FILTERs anywhere in a group, also in GRAPH, in braces, and in subqueries."""
    if is_select(tokens, opens):
        opens = next(n for n in range(opens + 1, len(tokens)) if tokens[n].text == "{")
    for item in list_items(tokens, opens):
        if item.kind is ItemKind.FILTER:
            yield item
        elif item.kind is not ItemKind.VALUES:
            for inner, _ in item.braces:
                yield from list_filters(tokens, inner)


def is_moved(tokens: Sequence[SparqlToken], opens: int) -> bool:
    """Whether a group has clauses, or FILTERs with NOW(), which are of the whole query."""
    if next(list_clauses(tokens, opens), None) is not None:
        return True
    items = [] if is_select(tokens, opens) else list_items(tokens, opens)
    filters = (i for i in items if i.kind is ItemKind.FILTER)
    return any(is_now(tokens[n]) for i in filters for n in i.places)


def list_variables(tokens: Sequence[SparqlToken], places: Iterable[int]) -> tuple[str, ...]:
    """The names of the variables at some places, in the order of the text."""
    found = (tokens[n] for n in places)
    return tuple(dict.fromkeys(t.text[1:] for t in found if t.kind == "var"))


def list_bound(
    tokens: Sequence[SparqlToken], items: Iterable[Item], *, optional: bool = False
) -> set[str]:
    """The variables of some items but clauses and FILTERs; of OPTIONAL patterns too."""
    kinds = CLAUSES - {ItemKind.OPTIONAL} if optional else CLAUSES
    plain = (i for i in items if i.kind not in kinds and i.kind is not ItemKind.FILTER)
    return {v for i in plain for v in list_variables(tokens, i.places)}


def _read_item(tokens: Sequence[SparqlToken], n: int, end: int) -> Item:
    word = tokens[n].text.upper() if tokens[n].kind == "word" else ""
    if word == "FILTER":
        return _read_filter(tokens, n, end)
    if word == "BIND":
        return Item(ItemKind.BIND, n, _close_next(tokens, n, end, "("))
    if tokens[n].text == "{":
        return _read_union(tokens, n, end)
    if word in _BRACED:
        opens = next((k for k in range(n, end) if tokens[k].text == "{"), None)
        if opens is None:
            return Item(_BRACED[word], n, end - 1)
        closes = close_of(tokens, opens)
        return Item(_BRACED[word], n, closes, ((opens, closes),))
    last = n
    while last + 1 < end and not _begins(tokens[last + 1]):
        last = close_of(tokens, last + 1) if tokens[last + 1].text == "(" else last + 1
    return Item(ItemKind.TRIPLES, n, last)


def _begins(token: SparqlToken) -> bool:
    """Whether a token begins an item that is no triples."""
    return token.text == "{" or (token.kind == "word" and token.text.upper() in _WORDS)


def _read_filter(tokens: Sequence[SparqlToken], n: int, end: int) -> Item:
    words = [t.text.upper() for t in tokens[n + 1 : n + 4]]
    for kind, before in ((ItemKind.ABSENT, ["NOT", "EXISTS"]), (ItemKind.PRESENT, ["EXISTS"])):
        if words[: len(before) + 1] == [*before, "{"]:
            opens = n + len(before) + 1
            return Item(kind, n, close_of(tokens, opens), ((opens, close_of(tokens, opens)),))
    last = _close_next(tokens, n, end, "(")
    braces = []
    opens = n
    while (opens := next((k for k in range(opens, last) if tokens[k].text == "{"), last)) < last:
        braces.append((opens, close_of(tokens, opens)))
        opens = braces[-1][1]
    return Item(ItemKind.FILTER, n, last, tuple(braces))


def _read_union(tokens: Sequence[SparqlToken], n: int, end: int) -> Item:
    braces = [(n, close_of(tokens, n))]
    while braces[-1][1] + 2 < end and tokens[braces[-1][1] + 1].text.upper() == "UNION":
        opens = braces[-1][1] + 2
        if tokens[opens].text != "{":
            break
        braces.append((opens, close_of(tokens, opens)))
    return Item(ItemKind.GROUP, n, braces[-1][1], tuple(braces))


def _close_next(tokens: Sequence[SparqlToken], n: int, end: int, opening: str) -> int:
    opens = next((k for k in range(n, end) if tokens[k].text == opening), None)
    return end - 1 if opens is None else close_of(tokens, opens)
