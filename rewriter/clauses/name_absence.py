"""NOT EXISTS for OPTIONAL whose variable must have no value, as SPARQL 1.0 says what is absent."""

from collections.abc import Sequence

from ontoweir.rewriter.clauses.list_items import ItemKind, list_items, list_variables
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_UNCERTAIN = {
    *("OPTIONAL", "UNION", "MINUS", "EXISTS", "VALUES", "BIND", "SELECT", "SERVICE"),
}
"""Beside these a variable of a pattern may have no value where the pattern matches."""


def name_absence(text: str) -> str:
    """The text with FILTER NOT EXISTS { … } for OPTIONAL { … } FILTER(!BOUND(?v)), on its lines:
    where ?v is a variable of triples of that pattern, and of nothing else.

    Both are the solutions beside which the pattern does not match. What the pattern alone binds
    has no value then, so none of it is selected.
    """
    if "BOUND" not in text.upper():
        return text
    tokens = Tokens(text).tokens
    start = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if start is None:
        return text
    head = {t.text[1:] for t in tokens[:start] if t.kind == "var"}
    if not head:
        return text  # SELECT * shows all variables
    filters, clauses = _find(tokens, start)
    for begin, end, variable in filters:
        places = [
            n
            for n, t in enumerate(tokens)
            if t.kind == "var" and t.text[1:] == variable and not begin <= n < end
        ]
        mine = next((c for c in clauses if all(c[0] <= n < c[1] for n in places)), None)
        if mine is None or not places or not _is_certain(tokens, mine, variable):
            continue
        own = {t.text[1:] for t in tokens[mine[0] : mine[1]] if t.kind == "var"}
        group = (t for n, t in enumerate(tokens[start:], start) if not mine[0] <= n < mine[1])
        if own & head - {t.text[1:] for t in group if t.kind == "var"}:
            continue
        return name_absence(_write(text, tokens, (begin, end), mine[0]))
    return text


def _find(
    tokens: Sequence[SparqlToken], start: int
) -> tuple[list[tuple[int, int, str]], list[tuple[int, int]]]:
    """The filters !BOUND(?v) of the outermost group, and its OPTIONAL patterns, by the places of
    their first token and after their last."""
    items = list_items(tokens, start)
    filters = []
    for item in (i for i in items if i.kind is ItemKind.FILTER):
        words = [tokens[n].text.upper() for n in item.places]
        if words[:5] == ["FILTER", "(", "!", "BOUND", "("] and words[6:] == [")", ")"]:
            names = list_variables(tokens, item.places)
            filters += [(item.first, item.last + 1, name) for name in names]
    clauses = [(i.first, i.last + 1) for i in items if i.kind is ItemKind.OPTIONAL and i.braces]
    return filters, clauses


def _is_certain(tokens: Sequence[SparqlToken], clause: tuple[int, int], variable: str) -> bool:
    """Whether a variable has a value wherever a pattern matches: it is in a triple of it."""
    inside = tokens[clause[0] + 1 : clause[1]]
    if any(t.text.upper() in _UNCERTAIN for t in inside if t.kind == "word"):
        return False
    depth = 0
    for token in inside:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.kind == "var" and token.text[1:] == variable:
            return True
    return False


def _write(text: str, tokens: Sequence[SparqlToken], gone: tuple[int, int], optional: int) -> str:
    made = list(text)
    first, last = tokens[gone[0]], tokens[gone[1] - 1]
    for n in range(first.offset, last.offset + len(last.text)):
        if made[n] != "\n":
            made[n] = " "
    begin = tokens[optional].offset
    made[begin : begin + len("OPTIONAL")] = ["FILTER NOT EXISTS"]
    return "".join(made)
