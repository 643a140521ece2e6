"""Marks the sums of a SPARQL text that are computed as they are written."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ontoweir.errors import QueryError
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import Item, ItemKind, close_of
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_BETWEEN = {"&&", "||", "!", "=", "!=", "<", "<=", ">", ">=", ",", ")", "AS", "IN", "NOT"}
_MARK = "COALESCE"


class ComparedSumError(QueryError):
    """A sum is compared of which no part can be moved to the other side of the comparison: one of
    doubles, which is rounded, or of more than two variables."""


def wrap_sums(text: str) -> str | None:
    """`COALESCE(?a - ?b) > 2` for `?a - ?b > 2`, in FILTER and BIND, on its lines: COALESCE of one
    expression is that expression, but no sum whose parts may be moved to the other side. Conditions
    beside it, after &&, are FILTERs of their own. (None: there is none that is not so already.)
    Sums of times, the variables of GRAPHs, stay as they are.

    Args:
        text: a query of SPARQL.
    """
    edit = Edit(text)
    tokens = edit.tokens
    times = {name.text for word, name in pairwise(tokens) if word.text.upper() == "GRAPH"}
    wrapped = False
    for first, last in _list_sums(tokens):
        terms = tokens[first : last + 1]
        if any(t.text in times or t.kind == "string" for t in terms):
            continue
        edit.before(first, f"{_MARK}(")
        edit.after(last, ")")
        wrapped = True
        for n in _list_ands(tokens, first):
            edit.put(n, ") FILTER(")
    return edit.finish() if wrapped else None


def _list_ands(tokens: Sequence[SparqlToken], n: int) -> Iterator[int]:
    """The places of && between the conditions of the FILTER around a place, each of which has to
    be true: each may be a FILTER of its own."""
    found = (k for k in range(n, -1, -1) if tokens[k].text.upper() in ("FILTER", "BIND"))
    opens = next(found, 0) + 1
    if tokens[opens - 1].text.upper() != "FILTER":
        return
    depth, ends, apart = 0, close_of(tokens, opens), list[int]()
    for k in range(opens, ends):
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(tokens[k].text, 0)
        if depth == 1 and tokens[k].text == "||":
            return
        if depth == 1 and tokens[k].text == "&&":
            apart.append(k)
    yield from apart


def _list_sums(tokens: Sequence[SparqlToken]) -> Iterator[tuple[int, int]]:
    """The first and last tokens of the sums in FILTERs and BINDs, none within another."""
    for n, token in enumerate(tokens):
        opens = n + 1
        if token.text.upper() not in ("FILTER", "BIND") or opens >= len(tokens):
            continue
        if tokens[opens].text == "(":
            yield from _list_within(tokens, opens + 1, close_of(tokens, opens))


def _list_within(tokens: Sequence[SparqlToken], n: int, end: int) -> Iterator[tuple[int, int]]:
    """The sums of an expression, which calls of functions and brackets may have inside."""
    first = n
    while first < end:
        last = first
        summed = False
        inner: list[tuple[int, int]] = []
        while last < end and (
            tokens[last].text.upper() not in _BETWEEN or tokens[last].text == "("
        ):
            if tokens[last].text == "(":
                closes = close_of(tokens, last)
                inner.append((last + 1, closes))
                last = closes
            elif tokens[last].text == "{":  # EXISTS: its FILTERs are found by themselves
                last = close_of(tokens, last)
            summed |= tokens[last].text in ("+", "-") and last > first
            last += 1
        if summed and tokens[first].text not in ("+", "-"):
            yield first, last - 1
        elif tokens[first].text.upper() != _MARK:
            for begins, closes in inner:
                yield from _list_within(tokens, begins, closes)
        first = last + 1


def is_of_several(tokens: Sequence[SparqlToken], item: Item) -> bool:
    """Whether a FILTER or BIND has a marked sum of several variables."""
    if item.kind not in (ItemKind.FILTER, ItemKind.BIND):
        return False
    for n in item.places:
        if tokens[n].text == _MARK and tokens[n + 1].text == "(":
            inside = tokens[n + 2 : close_of(tokens, n + 1)]
            names = {t.text for t in inside if t.kind == "var"}
            if len(names) > 1 and not any(t.text == "," for t in inside):
                return True
    return False
