"""Groups that SPARQL chooses outside of the SELECT that makes them, as HAVING of that SELECT."""

from collections.abc import Mapping, Sequence

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import ItemKind, close_of, is_select, list_items
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_OTHERS = {"DISTINCT", "REDUCED", "FROM", "ORDER", "LIMIT", "OFFSET", "VALUES", "EXISTS"}


def filter_groups(text: str) -> str | None:
    """`SELECT ?k (MAX(?t) AS ?last) { … } GROUP BY ?k HAVING(MAX(?t) < …)` for `SELECT ?k ?last {
    { SELECT ?k (MAX(?t) AS ?last) { … } GROUP BY ?k } FILTER(?last < …) }`, on its lines: both are
    the groups of which the condition holds (None: it is another query, or its groups are of time).

    Args:
        text: a query.
    """
    tokens = Tokens(text).tokens
    words = [t.text.upper() for t in tokens]
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or "SELECT" not in words[:opens]:
        return None
    select, closes = words.index("SELECT"), close_of(tokens, opens)
    items = list_items(tokens, opens)
    if len(items) < 2 or closes != len(tokens) - 1 or not items[0].braces:
        return None
    group, *filters = items
    inner = group.braces[0][0]
    plain = all(i.kind is ItemKind.FILTER and not i.braces for i in filters)
    if not plain or group.first != inner or not is_select(tokens, inner):
        return None
    last = close_of(tokens, inner)
    if last != group.last or _OTHERS & {*words[select:inner], *words[filters[0].first :]}:
        return None
    begins = next(n for n in range(inner + 1, last) if words[n] == "{")
    ends = close_of(tokens, begins)
    tail = words[ends + 1 : last]
    if tail[:2] != ["GROUP", "BY"] or _OTHERS & {*tail, *words[inner:begins]}:
        return None
    if any(t.kind != "var" for t in tokens[ends + 3 : last]):
        return None  # HAVING, or groups of time
    made = _list_made(tokens[inner + 2 : begins - (words[begins - 1] == "WHERE")])
    shown = tokens[select + 1 : opens - (words[opens - 1] == "WHERE")]
    names = [t.text for t in shown]
    if made is None or sorted(names) != sorted(made) or any(t.kind != "var" for t in shown):
        return None
    said = []
    for item in filters:
        condition = tokens[item.first + 1 : item.last + 1]
        if condition[0].text != "(" or any(
            t.kind == "var" and t.text not in made for t in condition
        ):
            return None
        said.append(_write(text, condition, made))
    edit = Edit(text)
    for n, token in enumerate(shown, select + 1):
        edit.put(n, made[token.text])
    edit.blank(inner - (opens != inner - 1), begins - 1)
    edit.put(opens, "")
    edit.blank(filters[0].first, filters[-1].last)
    edit.put(last, f" HAVING{' '.join(said)} ")
    edit.put(closes, "")
    return edit.finish()


def _list_made(tokens: Sequence[SparqlToken]) -> dict[str, str] | None:
    """What a SELECT shows, as it is written, by its names (None: something has no name)."""
    made = dict[str, str]()
    n = 0
    while n < len(tokens):
        if tokens[n].kind == "var":
            made[tokens[n].text] = tokens[n].text
            n += 1
            continue
        closes = close_of(tokens, n) if tokens[n].text == "(" else None
        if closes is None or closes < 4 or tokens[closes - 2].text.upper() != "AS":
            return None
        made[tokens[closes - 1].text] = " ".join(t.text for t in tokens[n : closes + 1])
        n = closes + 1
    return made


def _write(text: str, tokens: Sequence[SparqlToken], made: Mapping[str, str]) -> str:
    """A condition in which names are what they stand for, on one line."""
    said, before = "", tokens[0]
    for token in tokens:
        apart = token.offset > before.offset + len(before.text)
        value = made.get(token.text, token.text) if token.kind == "var" else token.text
        if token.kind == "var" and value.startswith("("):
            value = value[1:].rsplit(" AS ", 1)[0].rsplit(" as ", 1)[0].strip()
            called = value.partition("(")[0].strip().isidentifier() and value.count("(") == 1
            value = value if called else f"({value})"
        said += " " * apart + value
        before = token
    return said
