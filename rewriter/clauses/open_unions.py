"""UNION inside of NOT EXISTS, EXISTS and MINUS, as several of these."""

from collections.abc import Sequence

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    is_select,
    list_clauses,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_AGAIN = {
    ItemKind.ABSENT: "} FILTER NOT EXISTS {",
    ItemKind.PRESENT: "} || EXISTS {",
    ItemKind.MINUS: "} MINUS {",
}


def open_unions(text: str) -> str:
    """The text with `NOT EXISTS { A } FILTER NOT EXISTS { B }` for `NOT EXISTS { { A } UNION { B }
    }`, on its lines: nothing of either is there. So with MINUS; EXISTS is one of the two.

    That is done where a FILTER of A compares what is bound around the clause, whose solutions are
    put into the whole pattern (SPARQL 1.1, 18.6). FILTERs beside the UNION are of each part. Beside
    other patterns a UNION stays, and so it does in EXISTS inside of another clause.
    """
    while True:
        edit = Edit(text)
        start = next((n for n, t in enumerate(edit.tokens) if t.text == "{"), None)
        if start is None:
            return text
        clauses = list(list_clauses(edit.tokens, start))
        for clause in clauses:
            union = _find_union(edit.tokens, clause)
            around = (c for c in clauses if c is not clause and clause.first in c.places)
            inner = clause.kind is ItemKind.PRESENT and any(around)
            if union is not None and not inner:
                _open(edit, clause, union)
                text = edit.finish()
                break
        else:
            return text


def _find_union(tokens: Sequence[SparqlToken], clause: Item) -> Item | None:
    """The UNION of a clause, if beside it there are only FILTERs of values."""
    if clause.kind not in _AGAIN or is_select(tokens, clause.braces[0][0]):
        return None
    items = list_items(tokens, clause.braces[0][0])
    unions = [i for i in items if i.kind is ItemKind.GROUP and len(i.braces) > 1]
    others = [i for i in items if i not in unions]
    plain = all(i.kind is ItemKind.FILTER and not i.braces for i in others)
    if len(unions) != 1 or not plain or any(is_select(tokens, b[0]) for b in unions[0].braces):
        return None
    return unions[0] if any(_looks_around(tokens, b[0]) for b in unions[0].braces) else None


def _looks_around(tokens: Sequence[SparqlToken], opens: int) -> bool:
    """Whether a FILTER or BIND of a part has a variable that no pattern of it binds."""
    items = list_items(tokens, opens)
    values = (ItemKind.FILTER, ItemKind.BIND)
    patterns = (i for i in items if i.kind not in values and i.kind not in CLAUSES)
    bound = {v for i in patterns for v in list_variables(tokens, i.places)}
    for item in items:
        used = list_variables(tokens, item.places) if item.kind in values else ()
        if item.kind is ItemKind.BIND and used:
            bound.add(used[-1])
            used = used[:-1]
        if not bound.issuperset(used):
            return True
    return False


def _open(edit: Edit, clause: Item, union: Item) -> None:
    """Write a clause for each part of its UNION."""
    opens, closes = clause.braces[0]
    before = _copy(edit, opens + 1, union.first - 1)
    after = _copy(edit, union.last + 1, closes - 1)
    edit.put(union.braces[0][0], " ")
    for (_, end), (begin, _) in zip(union.braces, union.braces[1:], strict=False):
        edit.put(end, f" {after} {_AGAIN[clause.kind]} {before} ")
        edit.blank(end + 1, begin)
    edit.put(union.braces[-1][1], " ")
    if clause.kind is ItemKind.PRESENT:
        edit.after(clause.first, "(")
        edit.after(clause.last, ")")


def _copy(edit: Edit, first: int, last: int) -> str:
    """Some tokens as they are written, on one line: what is close together stays so."""
    made, end = "", 0
    for token in edit.tokens[first : last + 1]:
        made += " " * bool(made and token.offset > end) + token.text
        end = token.offset + len(token.text)
    return made
