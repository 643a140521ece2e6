"""A SPARQL text without EXISTS as a value: the texts in which it is true, and false.

`BIND(EXISTS { B } AS ?b)` is `FILTER EXISTS { B } BIND(true AS ?b)`, or
`FILTER NOT EXISTS { B } BIND(false AS ?b)`; `SELECT (EXISTS { B } AS ?b)` is such a BIND at the end
of the group. A FILTER is evaluated at the end of its group, and BIND where it stands (SPARQL 1.1,
18.2.2): a variable of B that is bound after the BIND alone would be another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import ItemKind, close_of, list_items, list_variables
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens


@dataclass(frozen=True, slots=True)
class _Value:
    """The tokens from `first` to `last` that give a variable the truth of EXISTS, whose braces are
    at `opens` and `closes`; `negated`: of NOT EXISTS."""

    first: int
    last: int
    opens: int
    closes: int
    name: str
    negated: bool


def split_binds(text: str, file: str) -> tuple[str, ...]:
    """The texts whose solutions together are those of a text, on its lines, without EXISTS as the
    value of a BIND of its outermost group, or in SELECT. One that has none is as it was.

    Raises:
        QueryError: a variable in EXISTS is bound after it alone.
    """
    tokens = Tokens(text).tokens
    start = _find_group(tokens)
    if start is None:
        return (text,)
    shown, bound = _list_shown(tokens, start), list[_Value]()
    items = list_items(tokens, start)
    for place, item in enumerate(items):
        read = _read(tokens, item.first + 1, item.last) if item.kind is ItemKind.BIND else None
        if read is None:
            continue
        bound.append(_Value(item.first, item.last, *read))
        before = {v for i in items[:place] for v in list_variables(tokens, i.places)}
        binding = (i for i in items[place + 1 :] if i.kind not in (ItemKind.FILTER, ItemKind.MINUS))
        later = {v for i in binding for v in list_variables(tokens, i.places)} - before
        mine = list_variables(tokens, range(read[0], read[1]))
        if (wrong := next((v for v in mine if v in later), None)) is not None:
            raise QueryError(
                f"?{wrong} in EXISTS of a BIND is bound after it",
                why="BIND is computed where it stands, and does not know it yet",
                fix=f"write the BIND at the end of the group, or another variable than ?{wrong}",
                source=Source(file, tokens[item.first].line),
            )
    if not shown and not bound:
        return (text,)
    made = []
    for truths in product((True, False), repeat=len(shown) + len(bound)):
        edit = Edit(text)
        end = close_of(tokens, start)
        for value, truth in zip((*shown, *bound), truths, strict=True):
            body = text[tokens[value.opens].offset : tokens[value.closes].offset + 1]
            word = "EXISTS" if truth is not value.negated else "NOT EXISTS"
            given = f" FILTER {word} {body} BIND({str(truth).lower()} AS ?{value.name}) "
            edit.blank(value.first, value.last)
            if value in shown:
                edit.put(value.first, f"?{value.name} ")
                edit.before(end, given.replace("\n", " "))
            else:
                edit.put(value.first, given.replace("\n", " "))
        made.append(edit.finish())
    return tuple(made)


def _find_group(tokens: Sequence[SparqlToken]) -> int | None:
    """The place of the brace of the outermost group."""
    n = 0
    while n < len(tokens) and tokens[n].text != "{":
        n = close_of(tokens, n) + 1 if tokens[n].text == "(" else n + 1
    return n if n < len(tokens) else None


def _list_shown(tokens: Sequence[SparqlToken], start: int) -> list[_Value]:
    found, n = list[_Value](), 0
    while n < start:
        if tokens[n].text == "(":
            end = close_of(tokens, n)
            if (value := _read(tokens, n, end)) is not None:
                found.append(_Value(n, end, *value))
            n = end
        n += 1
    return found


def _read(
    tokens: Sequence[SparqlToken], opens: int, closes: int
) -> tuple[int, int, str, bool] | None:
    """What stands in parentheses, if it is EXISTS { … } AS ?v."""
    words = [t.text.upper() for t in tokens[opens + 1 : opens + 4]]
    negated = words[:1] in (["NOT"], ["!"])
    if words[negated : negated + 2] != ["EXISTS", "{"]:
        return None
    first = opens + 2 + negated
    end = close_of(tokens, first)
    if end + 3 != closes or tokens[end + 1].text.upper() != "AS":
        return None
    return first, end, tokens[end + 2].text[1:], negated
