"""A SPARQL text with the patterns of SELECTs within it in their place, where it says what is beside
solutions.

The solutions of `{ SELECT ?x { A } }`, each as often as it is found, are those of `{ A }`, whose
other variables are of no other part of the query (SPARQL 1.1, 18.2.4.4): they get names of their
own. `(e AS ?v)` is a BIND at the end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import close_of, is_select, list_clauses
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_AGGREGATES = {"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT", "MEDIAN"}


@dataclass(frozen=True, slots=True)
class _Select:
    """The braces around a SELECT, and those of its pattern; the places of what it shows: of a
    variable, or of the parentheses of an expression (none: *)."""

    opens: int
    closes: int
    body: int
    end: int
    shown: tuple[tuple[int, int], ...]


def open_selects(text: str) -> str:
    """The text without SELECTs within it that are patterns alone, on its lines. DISTINCT may go
    where the query around it is a set."""
    while True:
        edit = Edit(text)
        tokens = edit.tokens
        start = _find_body(tokens, 0)
        found = None if start is None else next(_list_selects(tokens, start), None)
        if start is None or found is None:
            return text if start is None else _put_in_braces(text, start)
        _open(edit, found)
        text = edit.finish()


def _put_in_braces(text: str, start: int) -> str:
    """`OPTIONAL { { SELECT … } }` for `OPTIONAL { SELECT … }`, and so with all clauses."""
    edit = Edit(text)
    for clause in list_clauses(edit.tokens, start):
        for opens, closes in clause.braces:
            if is_select(edit.tokens, opens):
                edit.after(opens, " {")
                edit.after(closes, " }")
    return edit.finish()


def _list_selects(tokens: Sequence[SparqlToken], start: int) -> Iterator[_Select]:
    """Those that are patterns alone."""
    head = [t.text.upper() for t in tokens[:start]]
    after = {t.text.upper() for t in tokens[close_of(tokens, start) :]}
    is_set = "DISTINCT" in head and "(" not in head and "GROUP" not in after
    clauses = list(list_clauses(tokens, start))
    for opens in range(start, len(tokens)):
        if tokens[opens].text != "{" or not is_select(tokens, opens):
            continue
        body = _find_body(tokens, opens + 2)
        if body is None:
            continue
        one = _read(tokens, opens, body)
        if one is None or close_of(tokens, body) + 1 != one.closes:
            continue  # GROUP BY, LIMIT
        distinct = tokens[opens + 2].text.upper() in ("DISTINCT", "REDUCED")
        hidden = _list_hidden(tokens, one) if one.shown else set[str]()
        others = {t.text for n, t in enumerate(tokens) if not opens < n < one.closes}
        inside = any(opens in clause.places for clause in clauses)
        if inside and not hidden.isdisjoint(others):
            continue  # whether EXISTS would put a value there is not agreed on
        if (not distinct or is_set) and not ("*" in head and hidden):
            yield one


def _read(tokens: Sequence[SparqlToken], opens: int, body: int) -> _Select | None:
    """A SELECT; None: it has aggregates, or functions that may be some."""
    shown, n = list[tuple[int, int]](), opens + 2
    while n < body:
        end = close_of(tokens, n) if tokens[n].text == "(" else n
        if end > n:
            inside = tokens[n:end]
            calls = {t.text.upper() for t in inside if t.kind == "word"} & _AGGREGATES
            if calls or any(t.kind in ("pname", "iri") and ":" in t.text for t in inside):
                return None
            shown.append((n, end))
        elif tokens[n].kind == "var":
            shown.append((n, n))
        n = end + 1
    return _Select(opens, close_of(tokens, opens), body, close_of(tokens, body), tuple(shown))


def _list_hidden(tokens: Sequence[SparqlToken], one: _Select) -> set[str]:
    """The variables that a SELECT does not show."""
    shown = {tokens[end - (end > first)].text for first, end in one.shown}
    inside = tokens[one.opens : one.closes]
    return {t.text for t in inside if t.kind == "var"} - shown


def _find_body(tokens: Sequence[SparqlToken], n: int) -> int | None:
    """The brace that opens the pattern of a SELECT, after a place in its head."""
    while n < len(tokens) and tokens[n].text != "{":
        n = close_of(tokens, n) + 1 if tokens[n].text == "(" else n + 1
    return n if n < len(tokens) else None


def _open(edit: Edit, one: _Select) -> None:
    tokens = edit.tokens
    hidden = _list_hidden(tokens, one) if one.shown else set[str]()
    names = {t.text for t in tokens if t.kind == "var"}
    suffixes = (f"_of{k}" for k in count(1))
    suffix = next(s for s in suffixes if not any(n.endswith(s) for n in names))
    binds = ""
    for first, end in one.shown:
        if end > first:
            made = (t.text + suffix * (t.text in hidden) for t in tokens[first + 1 : end])
            binds += f" BIND({' '.join(made)}) "
    edit.blank(one.opens + 1, one.body)
    for n in range(one.body + 1, one.end):
        if tokens[n].text in hidden and tokens[n].kind == "var":
            edit.after(n, suffix)
    edit.put(one.end, binds or " ")
