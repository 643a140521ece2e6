"""What keeps solutions that come and go from being read side by side, in the words of the query."""

from collections.abc import Iterator, Sequence

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    is_select,
    list_items,
    list_variables,
)
from ontoweir.rewriter.composed.list_visible import list_given
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_ALIKE = (
    "an aggregate in a subquery whose groups are not final",
    "a SELECT inside, whose rows have",
)
"""How refusals begin that say of a part what does not hold of several."""
_BESIDE = ", beside groups, the latest of keys or windows"


def refuse_parts(error: QueryError, text: str, file: str) -> QueryError:
    """The refusal of a query that has several parts: what of it is not read, if that is known; else
    the refusal as it is.

    Args:
        error: of the whole query.
        text: of it.
        file: where it is.
    """
    if not error.what.startswith(_ALIKE):
        return error
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or is_select(tokens, opens):
        return error
    found = next(_find_reasons(tokens, opens), None)
    if found is None:
        return error
    place, what, why, fix = found
    line = tokens[place].line
    return QueryError(what, why=why, fix=fix, source=Source(file, line))


def _find_reasons(tokens: Sequence[SparqlToken], opens: int) -> Iterator[tuple[int, str, str, str]]:
    """Where something is, what, why it is not read, and what to write instead."""
    items = list_items(tokens, opens)
    for item in items:
        yield from _find_in(tokens, item)
        if item.kind is ItemKind.MINUS and len(item.braces) == 1:
            before = list_given(tokens, [i for i in items if i.last < item.first])
            if not before & set(list_variables(tokens, item.places)):
                yield (
                    item.first,
                    f"MINUS that shares no variable with what is before it{_BESIDE}",
                    "it takes nothing away (SPARQL 1.1, 8.3.3)",
                    "leave it out; or write FILTER NOT EXISTS, where variables are those around it",
                )
    yield from _find_inner(tokens, items)
    yield from _find_optional(tokens, items)


def _find_in(tokens: Sequence[SparqlToken], item: Item) -> Iterator[tuple[int, str, str, str]]:
    """What is in an item."""
    words = [tokens[n].text.upper() for n in item.places]
    patterns = item.kind in (ItemKind.TRIPLES, ItemKind.GROUP, *CLAUSES)
    if patterns and not list_variables(tokens, item.places):
        yield (
            item.first,
            f"patterns without variables{_BESIDE}",
            "they are joined with others by what their variables are bound to",
            "write a variable in place of a constant, and a FILTER; or leave { } out",
        )
    if item.kind is ItemKind.VALUES and "UNDEF" in words:
        yield (
            item.first,
            f"UNDEF in VALUES{_BESIDE}",
            "a variable without a value is compatible with any",
            "write a UNION, or a FILTER with ||",
        )
    if item.kind is ItemKind.FILTER and len(item.braces) > 0:
        yield (
            item.first,
            f"EXISTS in an expression{_BESIDE}",
            "it is read where what it shares with others is bound in its braces by GRAPH ?t { … }",
            "write FILTER EXISTS { … } or FILTER NOT EXISTS { … } by itself; or a UNION of both",
        )
    if item.kind is ItemKind.GRAPH and tokens[item.first + 1].kind != "var":
        yield (
            item.first,
            f"GRAPH {tokens[item.first + 1].text}{_BESIDE}",
            "patterns of a stream are in GRAPH ?t, of the time of their row",
            "write GRAPH ?t { … } and compare ?t in a FILTER",
        )


def _find_inner(
    tokens: Sequence[SparqlToken], items: Sequence[Item]
) -> Iterator[tuple[int, str, str, str]]:
    """Variables of an OPTIONAL inside of another one that have a value around both."""
    for n, item in enumerate(items):
        opens = item.braces[0][0] if len(item.braces) == 1 else None
        if item.kind is not ItemKind.OPTIONAL or opens is None or is_select(tokens, opens):
            continue
        inner = list_items(tokens, opens)
        loose = list_given(tokens, inner, optional=True) - list_given(tokens, inner)
        shared = loose & list_given(tokens, items[:n])
        if shared:
            name = min(shared)
            what = (
                f"?{name} in an OPTIONAL inside of another one, whose other patterns do not bind it"
            )
            yield (
                item.first,
                what + _BESIDE,
                "where the inner one finds nothing it has no value, which is compatible with any",
                f"write a pattern with ?{name} in the outer OPTIONAL; or give it another name",
            )


def _find_optional(
    tokens: Sequence[SparqlToken], items: Sequence[Item]
) -> Iterator[tuple[int, str, str, str]]:
    """Variables that several OPTIONALs may give a value."""
    for n, item in enumerate(items):
        if item.kind is not ItemKind.OPTIONAL:
            continue
        before = list_given(tokens, [i for i in items[:n] if i.kind is not ItemKind.OPTIONAL])
        mine = list_given(tokens, [item], optional=True) - before
        for other in items[n + 1 :]:
            shared = mine & list_given(tokens, [other], optional=True)
            if shared and other.kind not in (ItemKind.BIND, ItemKind.FILTER):
                name = min(shared)
                yield (
                    other.first,
                    f"?{name}, which an OPTIONAL before it may leave without a value{_BESIDE}",
                    "what has no value is compatible with any, so that it is no key of a join",
                    f"bind ?{name} before the OPTIONAL; or call it otherwise, and compare both",
                )
