"""Expressions of GROUP BY that have no name, in SPARQL."""

from collections.abc import Iterator, Sequence
from itertools import count

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import close_of
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_ENDS = {"HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"}


def name_groups(text: str) -> str:
    """`SELECT ?h … GROUP BY (HOURS(?t) AS ?h)` for `SELECT (HOURS(?t) AS ?h) … GROUP BY HOURS(?t)`,
    which SPARQL allows (18.2.4.1), on its lines; an expression that SELECT does not show gets a
    name of its own. Other texts are as they were.

    Args:
        text: a query.
    """
    edit = Edit(text)
    tokens, changed = edit.tokens, False
    taken = {t.text for t in tokens if t.kind == "var"}
    names = (name for n in count() if (name := f"?group{n or ''}") not in taken)
    for n in range(1, len(tokens)):
        if [t.text.upper() for t in tokens[n - 1 : n + 1]] != ["GROUP", "BY"]:
            continue
        for first, last in _list_unnamed(tokens, n + 1):
            said = _strip([t.text for t in tokens[first : last + 1]])
            found = _find_shown(tokens, n, said)
            if found is None:
                name = next(names)
            else:
                begins, name = found
                edit.blank(begins, close_of(tokens, begins))
                edit.before(begins, name)
            bare = tokens[first].text != "("
            edit.before(first, "(" if bare else "")
            edit.after(last, f" AS {name})") if bare else edit.put(last, f" AS {name})")
            changed = True
    return edit.finish() if changed else text


def _list_unnamed(tokens: Sequence[SparqlToken], n: int) -> Iterator[tuple[int, int]]:
    """The first and last tokens of the expressions after GROUP BY that have no name."""
    while n < len(tokens) and tokens[n].text != "}" and tokens[n].text.upper() not in _ENDS:
        if tokens[n].kind == "var":
            n += 1
            continue
        opens = n if tokens[n].text == "(" else n + 1
        if opens >= len(tokens) or tokens[opens].text != "(":
            return
        last = close_of(tokens, opens)
        if last < 2 or opens != n or tokens[last - 2].text.upper() != "AS":
            yield n, last
        n = last + 1


def _find_shown(tokens: Sequence[SparqlToken], by: int, said: list[str]) -> tuple[int, str] | None:
    """Where the SELECT that is grouped has an expression in brackets, and what it calls it."""
    depth = 0
    for n in range(by, -1, -1):
        depth += {"}": 1, "{": -1}.get(tokens[n].text, 0)
        if depth < 0:
            return None
        if depth == 0 and tokens[n].text.upper() == "SELECT":
            break
    else:
        return None
    while tokens[n].text != "{":
        if tokens[n].text == "(":
            last = close_of(tokens, n)
            inner = [t.text for t in tokens[n + 1 : last]]
            if inner[-2:-1] in (["AS"], ["as"]) and _strip(inner[:-2]) == said:
                return n, inner[-1]
            n = last
        n += 1
    return None


def _strip(said: list[str]) -> list[str]:
    """Without brackets around all of it; words in capitals."""
    while said[:1] == ["("] and said[-1:] == [")"]:
        said = said[1:-1]
    return [word.upper() if word[:1].isalpha() and ":" not in word else word for word in said]
