"""A SPARQL text with its NOT EXISTS, EXISTS, MINUS and OPTIONAL in the outermost group.

What is moved stays on its line, so that places in the texts are places in the text.

- `GRAPH ?t { A OPTIONAL { B } }` is `GRAPH ?t { A } OPTIONAL { GRAPH ?t { B } }`: a group in GRAPH
  is evaluated in one graph (SPARQL 1.1, 18.5), so each of its patterns is.
- `{ A OPTIONAL { B } } C` is `A OPTIONAL { B } C`, where B shares no variable with C that A lacks.
- A UNION of such groups is several queries.
- `FILTER(a && NOT EXISTS { B })` is `FILTER(a) FILTER NOT EXISTS { B }`; with || it is several
  queries (split_choices), as are EXISTS as values (split_binds).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.clauses.check_binds import check_binds
from ontoweir.rewriter.clauses.check_scope import Braces, check_graphs, check_group, shares_before
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import (
    Item,
    ItemKind,
    close_of,
    is_moved,
    is_now,
    is_select,
    list_clauses,
    list_items,
    list_variables,
)
from ontoweir.rewriter.clauses.open_selects import open_selects
from ontoweir.rewriter.clauses.open_unions import open_unions
from ontoweir.rewriter.clauses.split_binds import split_binds
from ontoweir.rewriter.clauses.split_choices import drop_choices, split_choices
from ontoweir.rewriter.clauses.turn_minus import turn_minus
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

MAX_TEXTS = 64
"""A query may be so many by its UNIONs of groups with such clauses."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """`texts`: whose solutions together are those of the text; `joined`: with the patterns of all
    of them, as one."""

    texts: tuple[str, ...]
    joined: str


def lift_clauses(text: str, file: str) -> Lifted | None:
    """The texts that a text is (None: it has no such clause).

    Raises:
        QueryError: a clause cannot be moved.
    """
    if not re.search(r"(?i)\b(EXISTS|MINUS|OPTIONAL)\b", text):
        return None
    text = _blank_comments(text)
    written = Tokens(text).tokens
    if (begin := _find_start(written)) is not None and any(list_clauses(written, begin)):
        check_binds(written, begin, file)
    text = open_selects(text)
    binds = split_binds(turn_minus(open_unions(_open_filters(text)), file), file)
    opened = [_push_graphs(_open_filters(one)) for one in binds]
    text = _open_filters(binds[0])
    tokens = Tokens(text).tokens
    start = _find_start(tokens)
    if start is None or next(list_clauses(tokens, start), None) is None:
        return None
    _refuse_hidden_times(tokens, start, file)
    check_graphs(tokens, start, file)
    text = _push_graphs(text)
    alone = not _has_unions(text)
    parts = (t for one in opened for t in _split_unions(one, file, alone=alone))
    every = (c for t in parts for c in split_choices(t, file))
    texts = tuple(islice(every, MAX_TEXTS + 1))
    if len(texts) > MAX_TEXTS:
        raise QueryError(
            f"UNION makes more than {MAX_TEXTS} queries of groups with NOT EXISTS, EXISTS, MINUS "
            "or OPTIONAL",
            why="each is decided by itself",
            fix="register several queries",
            source=Source(file, tokens[start].line),
        )
    return Lifted(texts, drop_choices(_join_unions(text)))


def _find_start(tokens: Sequence[SparqlToken]) -> int | None:
    return next((n for n, t in enumerate(tokens) if t.text == "{"), None)


def _refuse_hidden_times(tokens: Sequence[SparqlToken], start: int, file: str) -> None:
    """Raise QueryError for a SELECT inside that does not show the times of its patterns: when its
    rows are there would not be known where it is decided what is beside them."""
    clauses = list(list_clauses(tokens, start))
    for opens in range(start + 1, len(tokens)):
        if tokens[opens].text != "{" or not is_select(tokens, opens):
            continue
        if any(opens in clause.places for clause in clauses):
            continue
        body = next((n for n in range(opens + 1, len(tokens)) if tokens[n].text == "{"), opens)
        head, depth = set[str](), 0  # what is shown as it is
        for token in tokens[opens + 1 : body]:
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            head |= {token.text} if not depth else set()
        inside = range(body, close_of(tokens, opens))
        names = (tokens[n + 1] for n in inside if tokens[n].text.upper() == "GRAPH")
        hidden = next((t for t in names if t.kind == "var" and t.text not in head), None)
        if hidden is not None and "*" not in head:
            raise QueryError(
                "a SELECT inside, whose rows have times of their own, beside NOT EXISTS, EXISTS, "
                "MINUS or OPTIONAL",
                why=f"it does not show {hidden.text}, the time of its rows",
                fix=f"write the clause inside of the SELECT; or select {hidden.text} there; of "
                "groups of time join the greatest, { SELECT ?day (MAX(?n) AS ?most) { { SELECT … } "
                "} GROUP BY (ow:tumble(?hour, …) AS ?day) } FILTER(?n = ?most); in SQL the rows of "
                "a subquery may be beside others",
                source=Source(file, tokens[opens].line),
            )


def _blank_comments(text: str) -> str:
    made, end = [], 0
    for token in Tokens(text).tokens:
        made += [re.sub(r"[^\n]", " ", text[end : token.offset]), token.text]
        end = token.offset + len(token.text)
    return "".join((*made, re.sub(r"[^\n]", " ", text[end:])))


def _open_filters(text: str) -> str:
    """FILTER(… && NOT EXISTS { … }) as FILTERs of their own; !EXISTS as NOT EXISTS."""
    edit = Edit(text)
    tokens = edit.tokens
    for n, token in enumerate(tokens[:-1]):
        if token.text.upper() != "FILTER" or token.kind != "word":
            continue
        if tokens[n + 1].text == "!" and _is_exists(tokens, n + 1):
            edit.put(n + 1, " NOT ")
        if tokens[n + 1].text != "(":
            continue
        opens, closes = n + 1, close_of(tokens, n + 1)
        while tokens[opens + 1].text == "(" and close_of(tokens, opens + 1) == closes - 1:
            opens, closes = opens + 1, closes - 1  # FILTER((…))
        parts = list(_split_and(tokens, opens, closes))
        inner = [_unwrap(tokens, first, last) for first, last in parts]
        timed = any(is_now(tokens[k]) for k in range(opens, closes)) and len(parts) > 1
        if not timed and not any(_is_exists(tokens, first) for first, _ in inner):
            continue
        if any(_is_exists(tokens, f) and _exists_end(tokens, f) != last for f, last in inner):
            continue  # … || …
        edit.blank(n, opens)
        edit.blank(closes, close_of(tokens, n + 1))
        for (first, last), (core, end) in zip(parts, inner, strict=True):
            if last + 1 < closes:
                edit.put(last + 1, " ")
            if not _is_exists(tokens, core):
                edit.before(first, " FILTER(")
                edit.after(last, ") ")
                continue
            if first < core:
                edit.blank(first, core - 1)
            if end < last:
                edit.blank(end + 1, last)
            if tokens[core].text == "!":
                edit.put(core, " FILTER NOT ")
            else:
                edit.before(core, " FILTER ")
    return edit.finish()


def _split_and(tokens: Sequence[SparqlToken], opens: int, closes: int) -> Iterator[tuple[int, int]]:
    """The first and the last token of what && joins in parentheses."""
    first = n = opens + 1
    while n < closes:
        if tokens[n].text in ("(", "{"):
            n = close_of(tokens, n)
        if tokens[n].text == "||":
            yield opens + 1, closes - 1
            return
        n += 1
    n = first
    while n < closes:
        if tokens[n].text in ("(", "{"):
            n = close_of(tokens, n)
        elif tokens[n].text == "&&":
            yield first, n - 1
            first = n + 1
        n += 1
    yield first, closes - 1


def _unwrap(tokens: Sequence[SparqlToken], first: int, last: int) -> tuple[int, int]:
    while tokens[first].text == "(" and close_of(tokens, first) == last:
        first, last = first + 1, last - 1
    return first, last


def _is_exists(tokens: Sequence[SparqlToken], n: int) -> bool:
    words = [t.text.upper() for t in tokens[n : n + 3]]
    return words[:2] == ["EXISTS", "{"] or words in (
        ["NOT", "EXISTS", "{"],
        ["!", "EXISTS", "{"],
    )


def _exists_end(tokens: Sequence[SparqlToken], n: int) -> int:
    opens = next(k for k in range(n, len(tokens)) if tokens[k].text == "{")
    return close_of(tokens, opens)


def _push_graphs(text: str) -> str:
    """GRAPH around patterns alone."""
    while True:
        edit = Edit(text)
        start = _find_start(edit.tokens)
        assert start is not None
        item = next(_list_graphs(edit.tokens, start), None)
        if item is None:
            return text
        opens, closes = item.braces[0]
        name = edit.tokens[item.first + 1].text
        edit.blank(item.first, opens)
        edit.put(closes, " ")
        _push(edit, opens, name)
        text = edit.finish()


def _list_graphs(tokens: Sequence[SparqlToken], opens: int) -> Iterator[Item]:
    """The graphs with clauses in them, or FILTERs with NOW()."""
    if is_select(tokens, opens):
        return
    for item in list_items(tokens, opens):
        if item.kind is ItemKind.GRAPH:
            if item.braces and is_moved(tokens, item.braces[0][0]):
                yield item
        elif item.kind is not ItemKind.VALUES:
            for inner, _ in item.braces:
                yield from _list_graphs(tokens, inner)


def _push(edit: Edit, opens: int, name: str) -> None:
    """GRAPH around the patterns of a group."""
    tokens = edit.tokens
    if is_select(tokens, opens):
        edit.before(opens + 1, f"{{ GRAPH {name} {{ ")  # a subquery is read in the graph
        edit.after(close_of(tokens, opens) - 1, " } }")
        return
    items = list_items(tokens, opens)
    for item in items:
        match item.kind:
            case ItemKind.TRIPLES:
                edit.before(item.first, f" GRAPH {name} {{ ")
                edit.after(item.last, " } ")
            case ItemKind.MINUS if not shares_before(tokens, opens, item):
                edit.blank(item.first, item.last)  # it takes away what has a variable in common
            case ItemKind.GROUP | ItemKind.ABSENT | ItemKind.PRESENT | ItemKind.MINUS:
                for inner, _ in item.braces:
                    _push(edit, inner, name)
            case ItemKind.OPTIONAL:
                _push(edit, item.braces[0][0], name)
            case ItemKind.FILTER:
                for inner, _ in item.braces:
                    _push(edit, inner, name)
            case ItemKind.BIND | ItemKind.VALUES | ItemKind.GRAPH:
                pass


def _find_group(tokens: Sequence[SparqlToken]) -> Item | None:
    """The first group of the outermost one with clauses in it."""
    start = _find_start(tokens)
    assert start is not None
    for item in list_items(tokens, start):
        if item.kind is ItemKind.GROUP and any(
            next(list_clauses(tokens, opens), None) is not None for opens, _ in item.braces
        ):
            return item
    return None


def _has_unions(text: str) -> bool:
    return any(t.text.upper() == "UNION" and t.kind == "word" for t in Tokens(text).tokens)


def _split_unions(text: str, file: str, *, alone: bool) -> Iterator[str]:
    """The texts of all choices of branches; `alone`: no UNION was in the text."""
    tokens = Tokens(text).tokens
    group = _find_group(tokens)
    if group is None:
        yield text
        return
    around = _list_around(tokens, group)
    for opens, closes in group.braces:
        if not is_select(tokens, opens):
            check_group(tokens, opens, around, Braces(len(group.braces) > 1, alone), file)
        edit = Edit(text)
        for first, last in ((group.first, opens - 1), (closes + 1, group.last)):
            if first <= last:
                edit.blank(first, last)
        if not is_select(tokens, opens):
            edit.put(opens, ".")
            edit.put(closes, ".")
        yield from _split_unions(tidy_stops(edit.finish()), file, alone=alone)


def _list_around(tokens: Sequence[SparqlToken], group: Item) -> set[str]:
    """The variables that are bound, or matched, outside of a group: FILTER and BIND see those of
    the group as they are."""
    start = _find_start(tokens)
    assert start is not None
    around: set[str] = set()
    for item in list_items(tokens, start):
        found = list_variables(tokens, item.places)
        if item.kind is ItemKind.BIND:
            around.update(found[-1:])
        elif item.kind is not ItemKind.FILTER and item != group:
            around.update(found)
    return around


def _join_unions(text: str) -> str:
    """All branches together, without their FILTERs, which are not of the whole."""
    alone = not _has_unions(text)
    while True:
        edit = Edit(text)
        group = _find_group(edit.tokens)
        if group is None:
            return text
        for n in group.places:
            if not any(opens <= n <= closes for opens, closes in group.braces):
                edit.put(n, ".")  # UNION
        for opens, closes in group.braces:
            if is_select(edit.tokens, opens):
                continue
            edit.put(opens, ".")
            edit.put(closes, ".")
            for item in () if alone else list_items(edit.tokens, opens):
                if item.kind is ItemKind.FILTER:
                    edit.blank(item.first, item.last)
        text = tidy_stops(edit.finish())


def tidy_stops(text: str) -> str:
    """Without full stops that nothing is before."""
    made, before = list(text), ""
    for token in Tokens(text).tokens:
        if token.text == "." and before in (".", "{"):
            made[token.offset] = " "
        else:
            before = token.text
    return "".join(made)
