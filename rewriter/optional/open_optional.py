"""OPTIONAL patterns of the row before, or the next one: with it, or where there is none."""

from collections.abc import Sequence
from itertools import pairwise

from ontoweir.rewriter.clauses.list_items import Item, ItemKind, is_select, list_items
from ontoweir.rewriter.optional.drop_between import drop_between
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens


def open_optional(text: str) -> str | None:
    """`{ P . Q FILTER NOT EXISTS { R } } UNION { P FILTER NOT EXISTS { Q FILTER NOT EXISTS { R }
    } }` for `P OPTIONAL { Q FILTER NOT EXISTS { R } }`, which has the same solutions: LeftJoin is a
    join, and what has no partner in it (SPARQL 1.1, 18.5); without R there where Q is the next row
    after that of P (drop_between). What stands after it stays there. (None:
    the outermost group has no such OPTIONAL pattern, or has blank nodes with labels, which stand in
    one group only.)

    Args:
        text: a query.
    """
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or any(t.kind == "pname" and t.text.startswith("_:") for t in tokens):
        return None
    items = list_items(tokens, opens)
    for number, item in enumerate(items):
        if item.kind is not ItemKind.OPTIONAL or not _has_absence(tokens, item):
            continue
        before = items[:number]
        if not before or any(i.kind is ItemKind.OPTIONAL for i in before):
            return None
        opening, closing = item.braces[0]
        said = _flatten(text, tokens[before[0].first : item.first])
        inside = any_row = _flatten(text, tokens[opening + 1 : closing])
        outer = {t.text[1:] for t in tokens[before[0].first : item.first] if t.kind == "var"}
        if (told := drop_between(tokens, opening, outer)) is not None:
            parts = tokens[opening + 1 : told.first], tokens[told.last + 1 : closing]
            any_row = " ".join(_flatten(text, part) for part in parts)
        made = f"{{ {_stop(said)} {inside} }} UNION {{ {said} FILTER NOT EXISTS {{ {any_row} }} }}"
        first, end = tokens[before[0].first].offset, tokens[item.last].offset + 1
        return f"{text[:first]}{made}{chr(10) * text.count(chr(10), first, end)}{text[end:]}"
    return None


def _flatten(text: str, tokens: Sequence[SparqlToken]) -> str:
    """The text of some tokens on one line, without comments."""
    made = tokens[0].text if tokens else ""
    for before, token in pairwise(tokens):
        between = text[before.offset + len(before.text) : token.offset]
        made += f"{' ' if between else ''}{token.text}"
    return made


def _stop(said: str) -> str:
    """Patterns, after which others may stand."""
    return said if said.endswith((".", "}", ")")) else f"{said} ."


def _has_absence(tokens: Sequence[SparqlToken], item: Item) -> bool:
    """Whether an OPTIONAL pattern has NOT EXISTS in its own group."""
    opens = item.braces[0][0]
    if is_select(tokens, opens):
        return False
    return any(i.kind is ItemKind.ABSENT for i in list_items(tokens, opens))
