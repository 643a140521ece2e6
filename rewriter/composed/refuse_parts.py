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
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_ALIKE = (
    "an aggregate in a subquery whose groups are not final",
    "a SELECT inside, whose rows have",
)
"""How refusals begin that say of a part what does not hold of several."""
_NAMES = frozenset({"FILTER NOT EXISTS", "FILTER EXISTS", "OPTIONAL", "MINUS", "ORDER BY"})
_WHOLE = (
    "NOW() inside of",
    "NOW() in a branch of UNION",
    "NOW() in SELECT DISTINCT",
    "branches of the query with different windows",
    "NOT EXISTS in a subquery with aggregates",
    "EXISTS in a subquery with aggregates",
    "OPTIONAL in a subquery with aggregates",
    "MINUS in a subquery with aggregates",
)
"""What is refused of one query, where it is read of several parts: then one of these is not."""
_BESIDE = ", beside groups, the latest of keys or windows"


def refuse_parts(
    error: QueryError, text: str, file: str, of_part: QueryError | None = None
) -> QueryError:
    """The refusal of a query that has several parts: what of it is not read, if that is known; else
    the refusal as it is.

    Args:
        error: of the whole query.
        text: of it.
        file: where it is.
        of_part: the refusal of a part by itself, or of how they are joined (None: of neither).
    """
    if not error.what.startswith(_ALIKE):
        if error.what not in _NAMES and not error.what.startswith(_WHOLE):
            return error
        if of_part is not None:
            return of_part
    if of_part is not None and not of_part.what.startswith("?"):
        return of_part
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or is_select(tokens, opens):
        return error
    found = next(_find_reasons(tokens, opens), None)
    if found is None:
        return of_part or error
    place, what, why, fix = found
    line = tokens[place].line
    return QueryError(what, why=why, fix=fix, source=Source(file, line))


def refuse_shared(name: str, kind: JoinKind, source: Source | None, *, lack: bool) -> QueryError:
    """The refusal of solutions that are joined by a variable.

    Args:
        name: of the variable.
        kind: how they are joined.
        source: of the query.
        lack: whether it may have no value.
    """
    if lack:
        return QueryError(
            f"?{name}, which may have no value on one side of {_WORDS[kind]}{_BESIDE}",
            why="what has no value is compatible with any, so that it is no key of a join",
            fix=f"write a pattern with ?{name} outside of OPTIONAL; or give it another name there",
            source=source,
        )
    return QueryError(
        f"?{name}, which is made of terms of several kinds{_BESIDE}",
        why="whether two of them are equal is not known from the columns that they are made of",
        fix="let the mappings make them by one template, or of columns of one type; or compare "
        "what is computed of them: FILTER(STR(?a) = STR(?b))",
        source=source,
    )


def refuse_sides(name: str, source: Source | None) -> QueryError:
    """The refusal of a UNION of solutions that come and go.

    Args:
        name: of a variable that is of several kinds in its branches.
        source: of the query.
    """
    what = f"?{name}, which is of several types, or kinds of terms, in the branches of UNION"
    return QueryError(
        what + _BESIDE,
        why="such branches make one column of it",
        fix=f"make it of one type in each, as by BIND(xsd:double(?a) AS ?{name}), or by STR(?a)",
        source=source,
    )


_WORDS = {
    JoinKind.INNER: "a join",
    JoinKind.LEFT: "OPTIONAL",
    JoinKind.PRESENT: "EXISTS",
    JoinKind.ABSENT: "NOT EXISTS or MINUS",
    JoinKind.UNION: "UNION",
    JoinKind.BEGUN: "a join",
}


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
    exists = item.kind in (ItemKind.ABSENT, ItemKind.PRESENT, ItemKind.FILTER)
    if exists and {"LIMIT", "OFFSET"} & {*words}:
        yield (
            item.first,
            f"LIMIT inside of EXISTS or NOT EXISTS{_BESIDE}",
            "values of the solution are put into it (18.6), so that each would have others",
            "write MINUS in place of NOT EXISTS; or OPTIONAL { … } FILTER(BOUND(?x))",
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
    """Variables of an OPTIONAL inside of another clause that have a value around both."""
    for n, item in enumerate(items):
        opens = item.braces[0][0] if len(item.braces) == 1 else None
        if item.kind not in CLAUSES or opens is None or is_select(tokens, opens):
            continue
        inner = list_items(tokens, opens)
        loose = list_given(tokens, inner, optional=True) - list_given(tokens, inner)
        shared = loose & list_given(tokens, items[:n])
        if shared:
            name = min(shared)
            of = "another one" if item.kind is ItemKind.OPTIONAL else item.kind.value
            what = f"?{name} in an OPTIONAL inside of {of}, whose other patterns do not bind it"
            yield (
                item.first,
                what + _BESIDE,
                "where the inner one finds nothing it has no value, which is compatible with any",
                f"write a pattern with ?{name} before it; or give it another name",
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
