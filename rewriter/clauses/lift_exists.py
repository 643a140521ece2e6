"""EXISTS in an expression, of what comes and goes beside solutions, as a variable of OPTIONAL."""

from collections.abc import Iterator, Sequence
from itertools import count

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import (
    ItemKind,
    close_of,
    is_select,
    list_bound,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens


def lift_exists(text: str) -> str | None:
    """The text with `OPTIONAL { SELECT ?x (COUNT(*) AS ?e) { … } GROUP BY ?x }` and BOUND(?e) for
    EXISTS { … } in FILTERs, BINDs and SELECT, on its lines (None: there is none that is read so).

    EXISTS is evaluated with the values of the solution (SPARQL 1.1, 18.6): as what both bind is the
    same, it is whether there is a solution of its own that agrees in these variables, ?x. Each of
    them is found once, so solutions count as often as before.

    Args:
        text: a query.
    """
    edit, tokens = Edit(text), Tokens(text).tokens
    opens = _find_group(tokens)
    if opens is None or is_select(tokens, opens) or _shows_all(tokens[:opens]):
        return None
    closes, items = close_of(tokens, opens), list_items(tokens, opens)
    patterns = [i for i in items if i.kind is not ItemKind.FILTER]
    around = list_bound(tokens, patterns)
    names = {
        v
        for i in items
        if i.kind not in (ItemKind.FILTER, ItemKind.BIND)
        for v in list_variables(tokens, i.places)
    }
    taken = {t.text[1:] for t in tokens if t.kind == "var"}
    fresh = (name for n in count() if (name := f"there{n}") not in taken)
    places = [(n, closes) for n in _find_exists(tokens, range(opens))]
    for item in items:
        before = item.first if item.kind is ItemKind.BIND else closes
        said = item.kind is ItemKind.BIND or (item.kind is ItemKind.FILTER and item.braces)
        places += [(n, before) for n in _find_exists(tokens, item.places)] if said else []
    if not places:
        return None
    for place, before in places:
        first, last = place + 1, close_of(tokens, place + 1)
        limits = (t.text.upper() in ("LIMIT", "OFFSET") for t in tokens[first:last])
        if is_select(tokens, first) or any(limits):
            return None
        bound = list_bound(tokens, list_items(tokens, first))
        shared = {*list_variables(tokens, range(first, last))} & names
        if not shared or not shared <= bound & around:
            return None
        name = next(fresh)
        negated = tokens[place - 1].text.upper() == "NOT"
        edit.blank(place - negated, last)
        edit.before(place, f"(!BOUND(?{name}))" if negated else f"BOUND(?{name})")
        shown = " ".join(f"?{v}" for v in sorted(shared))
        inner = _write(tokens[first : last + 1])
        counted = f"SELECT {shown} (COUNT(*) AS ?{name}) {inner} GROUP BY {shown}"
        edit.before(before, f" OPTIONAL {{ {counted} }} ")
    return edit.finish()


def _shows_all(head: Sequence[SparqlToken]) -> bool:
    """Whether it is SELECT *, or has no SELECT."""
    words = [t.text.upper() for t in head]
    return "SELECT" not in words or "*" in words[words.index("SELECT") + 1 :][:2]


def _write(tokens: Sequence[SparqlToken]) -> str:
    """Tokens on one line, without comments."""
    made = ""
    for before, token in zip([tokens[0], *tokens], tokens, strict=False):
        apart = token.offset > before.offset + len(before.text)
        made += " " * apart + token.text
    return made


def _find_group(tokens: Sequence[SparqlToken]) -> int | None:
    """The brace of the outermost group, which is in no parentheses."""
    depth = 0
    for n, token in enumerate(tokens):
        depth += (token.text == "(") - (token.text == ")")
        if token.text == "{" and depth == 0:
            return n
    return None


def _find_exists(tokens: Sequence[SparqlToken], places: range) -> Iterator[int]:
    """The places of EXISTS, but for those in the braces of others."""
    n = places.start
    while n < places.stop:
        if tokens[n].text.upper() == "EXISTS" and tokens[n].kind == "word":
            yield n
            n = close_of(tokens, n + 1)
        n += 1
