"""MINUS inside of NOT EXISTS and EXISTS, as NOT EXISTS inside of them."""

from collections.abc import Sequence

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    list_clauses,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken


def turn_minus(text: str, file: str) -> str:
    """The text with `NOT EXISTS { A FILTER NOT EXISTS { B } }` for `NOT EXISTS { A MINUS { B } }`,
    on its lines, where both say the same.

    MINUS takes away what agrees with B in a variable that both have, and in all of these (SPARQL
    1.1, 18.5). That is what NOT EXISTS says where B has a variable that A binds before it, and
    nothing outside has: values that are put in from there are no variables. No variable of B may be
    bound behind it, and its FILTERs must be of its own.

    Raises:
        QueryError: it has none in common with A, and one that is bound outside: there it is not
            agreed on what it says.
    """
    edit = Edit(text)
    tokens = edit.tokens
    start = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    clauses = [] if start is None else list(list_clauses(tokens, start))
    for clause in clauses:
        if clause.kind not in (ItemKind.ABSENT, ItemKind.PRESENT):
            continue
        others = [n for n in range(len(tokens)) if n not in clause.places]
        outside = set(list_variables(tokens, others))
        items = list_items(tokens, clause.braces[0][0])
        for item in (i for i in items if i.kind is ItemKind.MINUS and i.braces):
            own = set(list_variables(tokens, item.places))
            before = _bind(tokens, [i for i in items if i.last < item.first])
            if own & outside and own.isdisjoint(before):
                name = min(own & outside)
                raise QueryError(
                    f"?{name} in MINUS inside of {clause.kind}, which is bound around it alone",
                    why="a value that is put in from there is no variable that MINUS has in common "
                    "with the patterns before it, and programs differ",
                    fix=f"write a pattern with ?{name} before it, or FILTER NOT EXISTS for MINUS",
                    source=Source(file, tokens[item.first].line),
                )
            if _is_same(tokens, items, item, outside):
                edit.put(item.first, " FILTER NOT EXISTS ")
    return edit.finish()


def _is_same(
    tokens: Sequence[SparqlToken], items: Sequence[Item], minus: Item, outside: set[str]
) -> bool:
    """Whether a MINUS of some items is what NOT EXISTS is."""
    body = list_items(tokens, minus.braces[0][0])
    if any(i.kind in CLAUSES or i.kind in (ItemKind.BIND, ItemKind.GROUP) for i in body):
        return False
    if any(i.kind in (ItemKind.OPTIONAL, ItemKind.BIND, ItemKind.GROUP) for i in items):
        return False
    own = _bind(tokens, body)
    before = _bind(tokens, [i for i in items if i.last < minus.first])
    behind = _bind(tokens, [i for i in items if i.first > minus.last]) - before
    read = set(list_variables(tokens, minus.places))
    return own == read and bool((own & before) - outside) and own.isdisjoint(behind)


def _bind(tokens: Sequence[SparqlToken], items: Sequence[Item]) -> set[str]:
    """The variables of the patterns among some items."""
    plain = (i for i in items if i.kind not in CLAUSES and i.kind is not ItemKind.FILTER)
    return {v for i in plain for v in list_variables(tokens, i.places)}
