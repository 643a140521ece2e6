"""Counts of what is beside each of what always holds, in SPARQL, none of some."""

from collections.abc import Sequence
from typing import NamedTuple

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import (
    ItemKind,
    close_of,
    is_select,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_TOLD = {"COUNT", "MIN", "MAX"}


class _Told(NamedTuple):
    """What SELECT shows of a group: its places, from bracket to bracket; the aggregate as it is
    written, and what it is called; what it is where nothing is beside (None: it has no value)."""

    first: int
    last: int
    aggregate: str
    name: str
    nothing: str | None

    @property
    def inner(self) -> str:
        """What it is called beside others."""
        return self.name if self.nothing is None else f"{self.name}_beside"


def count_beside(text: str) -> str | None:
    """`SELECT ?k (COALESCE(?n_beside, 0) AS ?n) { P OPTIONAL { SELECT ?k (COUNT(?o) AS ?n_beside) {
    Q } GROUP BY ?k } }` for `SELECT ?k (COUNT(?o) AS ?n) { P OPTIONAL { Q } } GROUP BY ?k`, on its
    lines: where each variable of P is grouped by, a group is one solution of P with its partners.
    COUNT(*) counts it where it has none, 1. (None: it is another query, or tells SUM or AVG, of
    which SPARQL does not say what they are of no value.)

    Args:
        text: a query.
    """
    edit = Edit(text)
    tokens = edit.tokens
    words = [t.text.upper() for t in tokens]
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or "SELECT" not in words[:opens]:
        return None
    select, closes = words.index("SELECT"), close_of(tokens, opens)
    keys = [t.text for t in tokens[closes + 3 :]]
    if words[closes + 1 : closes + 3] != ["GROUP", "BY"] or not keys:
        return None
    *before, last = list_items(tokens, opens)
    plain = {ItemKind.TRIPLES, ItemKind.FILTER}
    if last.kind is not ItemKind.OPTIONAL or any(i.kind not in plain or i.braces for i in before):
        return None
    inner, end = last.braces[0]
    named = {f"?{v}" for i in before for v in list_variables(tokens, i.places)}
    if any(t.kind != "var" for t in tokens[closes + 3 :]) or is_select(tokens, inner):
        return None
    found = _read_head(tokens, select + 1, opens - (words[opens - 1] == "WHERE"), keys, named)
    within = {f"?{v}" for v in list_variables(tokens, range(inner, end))}
    shared = sorted(named & within)
    if not found or not shared or not named <= {*keys} or not {*keys} <= named:
        return None
    told = " ".join(f"({t.aggregate} AS {t.inner})" for t in found)
    edit.before(inner + 1, f"SELECT {' '.join(shared)} {told} {{ ")
    edit.after(end - 1, f" }} GROUP BY {' '.join(shared)}")
    for one in found:
        edit.blank(one.first, one.last)
        shown = f"(COALESCE({one.inner}, {one.nothing}) AS {one.name})"
        edit.before(one.first, one.name if one.nothing is None else shown)
    edit.blank(closes + 1, len(tokens) - 1)
    return edit.finish()


def _read_head(
    tokens: Sequence[SparqlToken], n: int, end: int, keys: Sequence[str], named: set[str]
) -> list[_Told]:
    """The aggregates that SELECT shows beside keys (none: it shows something else)."""
    found: list[_Told] = []
    while n < end:
        if tokens[n].kind == "var" and tokens[n].text in keys:
            n += 1
            continue
        last = close_of(tokens, n) if tokens[n].text == "(" else n
        inside = [t.text for t in tokens[n + 1 : last]]
        if len(inside) < 6 or inside[0].upper() not in _TOLD or inside[-2].upper() != "AS":
            return []
        argument = [t for t in inside[2:-3] if t.upper() != "DISTINCT"]
        if inside[1] != "(" or inside[-3] != ")" or len(argument) != 1:
            return []
        aggregate, nothing = " ".join(inside[:-2]), None
        whole = argument[0] == "*" or argument[0] in named
        if whole and (inside[0].upper() != "COUNT" or len(inside) > 6):
            return []  # MAX(?k), COUNT(DISTINCT ?k)
        if inside[0].upper() == "COUNT":
            aggregate, nothing = ("COUNT(*)", "1") if whole else (aggregate, "0")
        found.append(_Told(n, last, aggregate, inside[-1], nothing))
        n = last + 1
    return found
