"""Buckets of time that a BIND names, in SPARQL, where their names are compared."""

from collections.abc import Iterator, Sequence

from ontoweir.rewriter.calendar.compare_named_buckets import read_call
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import ItemKind, close_of, is_select, list_items
from ontoweir.rewriter.syntax.group_binds import expand_name, list_prefixes
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_FLOOR = "urn:ontoweir:floor"


def name_floors(text: str) -> str:
    """`ow:tumble(?t, W)` for `ow:floor(?t, W)`, which says of NOW() where a bucket begins."""
    if "floor" not in text:
        return text
    edit = Edit(text)
    names = list_prefixes(edit.tokens)
    for n, (token, opens, time) in enumerate(
        zip(edit.tokens, edit.tokens[1:], edit.tokens[2:], strict=False)
    ):
        if opens.text == "(" and time.kind == "var" and expand_name(token, names) == _FLOOR:
            edit.put(n, token.text.replace("floor", "tumble"))
    return edit.finish()


def spell_buckets(text: str) -> str:
    """`BIND(ow:tumble(?t, W) AS ?h) FILTER(ow:tumble(?u, W) = ?h)` with the bucket in the place of
    ?h in FILTERs, also in those of EXISTS and OPTIONAL, on its lines; `FILTER(ow:tumble(?t, W) =
    ?h)` in the place of the BIND where a SELECT within shows ?h; `SELECT (ow:tumble(?t, W) AS ?h)`
    where nothing else has it. Other texts are as they were.

    Args:
        text: a query.
    """
    if "tumble" not in text:
        return text
    edit = Edit(text)
    tokens = edit.tokens
    names = list_prefixes(tokens)
    for opens, token in enumerate(tokens):
        if token.text != "{" or is_select(tokens, opens):
            continue
        items = list_items(tokens, opens)
        for item in (i for i in items if i.kind is ItemKind.BIND):
            call = read_call(tokens, item.first + 2, names)
            if call is None or call.last != item.last - 3 or tokens[item.last - 1].kind != "var":
                continue
            inside = range(opens, close_of(tokens, opens))
            made = " ".join(t.text for t in tokens[call.first : call.last + 1])
            made = made.replace(" ^^ ", "^^")
            _spell(edit, (n for n in inside if n not in item.places), item.last - 1, made)
    return edit.finish()


def _spell(edit: Edit, places: Iterator[int], name: int, made: str) -> None:
    """Write a bucket where its name is compared within a group."""
    tokens = edit.tokens
    uses = [n for n in places if tokens[n].text == tokens[name].text]
    within = [_select_around(tokens, n) for n in uses]
    outer = _select_around(tokens, name)
    bind = next(n for n in range(name, -1, -1) if tokens[n].text.upper() == "BIND")
    shown = {s for s in within if s != outer and s is not None}
    if shown:
        if all(_shows(tokens, s, tokens[name].text) for s in shown):
            edit.blank(bind, close_of(tokens, bind + 1))
            edit.before(bind, f"FILTER({made} = {tokens[name].text})")
    elif not uses:
        if (shown_at := _find_shown(tokens, bind, tokens[name].text)) is not None:
            edit.put(shown_at, f"({made} AS {tokens[name].text})")
            edit.blank(bind, close_of(tokens, bind + 1))
    elif all(_is_compared(tokens, n) for n in uses):
        for n in uses:
            edit.put(n, made)
        if sum(t.text == tokens[name].text for t in tokens) == len(uses) + 1:
            edit.blank(bind, close_of(tokens, bind + 1))


def _find_shown(tokens: Sequence[SparqlToken], bind: int, name: str) -> int | None:
    """The place of a variable that a BIND makes, where the head of its SELECT alone has it, and
    groups nothing."""
    outer = _select_around(tokens, bind)
    first = 0 if outer is None else outer
    select = next((n for n in range(first, bind) if tokens[n].text.upper() == "SELECT"), None)
    if select is None:
        return None
    body = next(n for n in range(select, len(tokens)) if tokens[n].text == "{")
    end = close_of(tokens, body)
    after = tokens[end + 1 : None if outer is None else close_of(tokens, outer)]
    uses = [n for n, t in enumerate(tokens) if t.text == name and not bind < n < end]
    direct = any(i.first == bind for i in list_items(tokens, body))
    grouped = any(t.text.upper() in ("GROUP", "ORDER", "HAVING") for t in after)
    return uses[0] if direct and not grouped and len(uses) == 1 and uses[0] < body else None


def _select_around(tokens: Sequence[SparqlToken], n: int) -> int | None:
    """The brace that opens the innermost SELECT within the query around a place."""
    depth = 0
    for k in range(n, -1, -1):
        depth += {"{": -1, "}": 1}.get(tokens[k].text, 0)
        if depth < 0:
            depth = 0
            if is_select(tokens, k):
                return k
    return None


def _shows(tokens: Sequence[SparqlToken], select: int, name: str) -> bool:
    """Whether the head of a SELECT has a variable."""
    body = next(n for n in range(select + 1, len(tokens)) if tokens[n].text == "{")
    return any(tokens[n].text in (name, "*") for n in range(select, body))


def _is_compared(tokens: Sequence[SparqlToken], n: int) -> bool:
    """Whether a variable is beside an operator in a FILTER."""
    near = {tokens[n - 1].text, tokens[n + 1].text}
    if near.isdisjoint(("=", "<", "<=", ">", ">=")):
        return False
    depth = 0
    for k in range(n, -1, -1):
        depth += {"(": -1, ")": 1}.get(tokens[k].text, 0)
        if tokens[k].text in ("{", "}"):
            return False
        if depth < 0 and tokens[k - 1].text.upper() == "FILTER":
            return True
    return False
