"""Groups whose latest time is compared with NOW(), as texts of all rows, and of those later."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import ItemKind, close_of, is_now, list_items
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(frozen=True, slots=True)
class LastText:
    """`every`: the query without the comparison; `recent`: the same of the rows in the window; of
    the groups those that have such a row (`there`) are answers, or those without."""

    every: str
    recent: str
    there: bool


def split_last(text: str) -> LastText | None:
    """`… GROUP BY ?s HAVING (MAX(?t) < NOW() - d)` of a query of patterns in `GRAPH ?t`; the name
    of the MAX in its place, and other conditions beside it (None: it is something else)."""
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None:
        return None
    closes = close_of(tokens, opens)
    after = [t.text.upper() for t in tokens[closes + 1 :]]
    if "GROUP" not in after or after.count("HAVING") != 1:
        return None
    having = closes + 1 + after.index("HAVING")
    groups, n = list[tuple[int, int]](), having + 1
    while n < len(tokens) and tokens[n].text == "(":
        groups.append((n, close_of(tokens, n)))
        n = groups[-1][1] + 1
    found = [g for g in groups if any(is_now(tokens[k]) for k in range(*g))]
    if len(found) != 1 or any(is_now(t) for t in (*tokens[:having], *tokens[n:])):
        return None
    parts = _split(tokens, *found[0])
    late = [p for p in parts if any(is_now(tokens[k]) for k in range(p[0], p[1] + 1))]
    compared = _read(tokens, *late[0], opens) if len(late) == 1 else None
    if compared is None:
        return None
    time, sign, (first, last) = compared
    graphs = [i for i in list_items(tokens, opens) if i.kind is ItemKind.GRAPH]
    if time not in {tokens[i.first + 1].text for i in graphs}:
        return None
    every, recent = Edit(text), Edit(text)
    alone = all(t.text != "(" for t in tokens[:opens])  # groups have an aggregate
    for edit in (every, recent):
        if alone:
            edit.blank(*late[0])
            edit.before(late[0][0], "COUNT(*) > 0")
        elif len(parts) > 1:
            place = parts.index(late[0])
            start = late[0][0] if place == 0 else parts[place - 1][1] + 1
            end = parts[1][0] - 1 if place == 0 else late[0][1]
            edit.blank(start, end)
        elif len(groups) > 1:
            edit.blank(*found[0])
        else:
            edit.blank(having, found[0][1])
    end_of = tokens[last].offset + len(tokens[last].text)
    since = text[tokens[first].offset : end_of]
    compares = ">=" if sign in ("<", ">=") else ">"
    recent.before(closes, f" FILTER({time} {compares} {since}) ")
    return LastText(every.finish(), recent.finish(), sign in (">", ">="))


def _split(tokens: Sequence[SparqlToken], opens: int, closes: int) -> list[tuple[int, int]]:
    """The first and the last tokens of what && joins in parentheses; all of it, where || does."""
    made, start, depth = list[tuple[int, int]](), opens + 1, 0
    for n in range(opens + 1, closes):
        depth += {"(": 1, ")": -1}.get(tokens[n].text, 0)
        if depth == 0 and tokens[n].text == "||":
            return [(opens + 1, closes - 1)]
        if depth == 0 and tokens[n].text == "&&":
            made.append((start, n - 1))
            start = n + 1
    return [*made, (start, closes - 1)]


def _read(
    tokens: Sequence[SparqlToken], first: int, last: int, opens: int
) -> tuple[str, str, tuple[int, int]] | None:
    """The time, the sign, and the places of what it is compared with (None: it is something
    else)."""
    signs = [n for n in range(first, last + 1) if tokens[n].text in _TURNED]
    if len(signs) != 1 or tokens[first].text == "!":
        return None
    sign, left, right = tokens[signs[0]].text, (first, signs[0] - 1), (signs[0] + 1, last)
    if is_now(tokens[left[0]]):
        sign, left, right = _TURNED[sign], right, left
    if not is_now(tokens[right[0]]):
        return None
    named = [t.text for t in tokens[left[0] : left[1] + 1]]
    if len(named) == 1:  # the name that SELECT gives
        head = [t.text for t in tokens[:opens]]
        places = [n for n in range(len(head) - 1) if head[n].upper() == "AS"]
        of = [n for n in places if head[n + 1] == named[0]]
        named = head[of[0] - 4 : of[0]] if len(of) == 1 and of[0] >= 4 else []
    if [t.upper() for t in named[:2]] != ["MAX", "("] or len(named) != 4 or named[3] != ")":
        return None
    return (named[2], sign, right) if named[2].startswith(("?", "$")) else None
