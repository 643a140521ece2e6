"""Groups that SPARQL does not tell all keys of, as a SELECT around such as are told."""

from collections.abc import Sequence

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import close_of
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_AROUND = {"ORDER", "LIMIT", "OFFSET", "VALUES"}


def hide_keys(text: str) -> str | None:
    """`SELECT ?n { SELECT ?k (COUNT(*) AS ?n) { … } GROUP BY ?k }` for a query that groups by ?k
    and does not show it, on its lines (None: it shows all keys; or they have no names).

    Args:
        text: a query.
    """
    tokens = Tokens(text).tokens
    words = [t.text.upper() for t in tokens]
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or "SELECT" not in words[:opens]:
        return None
    select, closes = words.index("SELECT"), close_of(tokens, opens)
    tail = words[closes + 1 :]
    if tail[:2] != ["GROUP", "BY"] or _AROUND & {*tail}:
        return None
    end = len(tokens) if "HAVING" not in tail else closes + 1 + tail.index("HAVING")
    keys = _list_names(tokens[closes + 3 : end])
    once = words[select + 1] in ("DISTINCT", "REDUCED")
    last = opens - (words[opens - 1] == "WHERE")
    shown = _list_names(tokens[select + 1 + once : last])
    if keys is None or shown is None or "FROM" in words[select:opens]:
        return None
    hidden = [k for k in keys if k not in shown]
    if not hidden:
        return None
    edit = Edit(text)
    head = "DISTINCT " if words[select + 1] == "DISTINCT" else ""
    if once:
        edit.blank(select + 1, select + 1)
    edit.before(select, f"SELECT {head}{' '.join(shown)} {{ {{ ")
    edit.after(select, f" {' '.join(hidden)} ")
    edit.after(len(tokens) - 1, " } }")
    return edit.finish()


def _list_names(tokens: Sequence[SparqlToken]) -> list[str] | None:
    """Variables, and what AS names (None: something has no name)."""
    names = list[str]()
    n = 0
    while n < len(tokens):
        if tokens[n].kind == "var":
            names.append(tokens[n].text)
            n += 1
            continue
        closes = close_of(tokens, n) if tokens[n].text == "(" else None
        if closes is None or closes < 2 or tokens[closes - 2].text.upper() != "AS":
            return None
        names.append(tokens[closes - 1].text)
        n = closes + 1
    return names
