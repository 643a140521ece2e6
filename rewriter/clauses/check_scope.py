"""What would mean something else if the clauses of a group, or a GRAPH, were moved out of it."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    is_moved,
    is_select,
    list_bound,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_FILTERS = (ItemKind.FILTER, ItemKind.ABSENT, ItemKind.PRESENT)


@dataclass(frozen=True, slots=True)
class Braces:
    """Braces around a group: of one of several in UNION; or `alone`, in a text without UNION."""

    is_union: bool
    alone: bool


def check_group(
    tokens: Sequence[SparqlToken], opens: int, around: set[str], braces: Braces, file: str
) -> None:
    """Nothing, if the items of a group in braces say the same outside of these; `around`: the
    variables there.

    Raises:
        QueryError: they would see what they do not see inside.
    """
    items = list_items(tokens, opens)
    for item in items:
        if item.kind in CLAUSES or item.kind is ItemKind.FILTER:
            used = set(list_variables(tokens, item.places)) - _bind_for(tokens, items, item)
            braced = (n for b in item.braces for n in range(b[0], b[1]))
            inner = set(list_variables(tokens, braced)) - around
            if braces.alone:  # FILTERs of what OPTIONAL patterns of the group bind
                inner |= list_bound(tokens, items, optional=True) - around
            wrong = used - inner if item.kind is ItemKind.FILTER else used & around
            if wrong:
                raise _refuse(tokens, item, min(wrong), file)
        if item.kind is ItemKind.BIND and braces.is_union:
            raise QueryError(
                "BIND in a group of UNION, beside NOT EXISTS, EXISTS, MINUS or OPTIONAL",
                why="it is computed of the solutions of the whole query",
                fix="write it after the UNION",
                source=Source(file, tokens[item.first].line),
            )


def check_graphs(
    tokens: Sequence[SparqlToken],
    opens: int,
    file: str,
    before: Set[str] = frozenset(),
    around: Set[str] = frozenset(),
) -> None:
    """Nothing, if the clauses and FILTERs in GRAPH with clauses say the same outside of it.

    Args:
        tokens: of the text.
        opens: the brace of a group.
        file: where it is.
        before: what is bound before the group, beside it.
        around: what is bound beside it.

    Raises:
        QueryError: they would see what they do not see inside.
    """
    items = [] if is_select(tokens, opens) else list_items(tokens, opens)
    for item in items:
        earlier = before | list_bound(
            tokens, [i for i in items if i.last < item.first], optional=True
        )
        others = around | list_bound(tokens, [i for i in items if i != item], optional=True)
        inner = [b for b, _ in item.braces]
        match item.kind:
            case ItemKind.GRAPH:
                if inner and is_moved(tokens, inner[0]):
                    _check_graph(tokens, item, earlier, others, file)
            case ItemKind.GROUP:
                for brace in inner:
                    check_graphs(tokens, brace, file, earlier, others)
            case ItemKind.VALUES:
                pass
            case _:
                for brace in inner:
                    check_graphs(tokens, brace, file)


def _check_graph(
    tokens: Sequence[SparqlToken], graph: Item, before: Set[str], around: Set[str], file: str
) -> None:
    opens = graph.braces[0][0]
    items = list_items(tokens, opens)
    time = {tokens[graph.first + 1].text[1:]}
    for item in items:
        used = set(list_variables(tokens, item.places)) - _bind_for(tokens, items, item) - time
        if item.kind in _FILTERS:
            wrong = used & around
        else:
            wrong = used & before if item.kind in CLAUSES else set[str]()
        if wrong:
            raise _refuse(tokens, item, min(wrong), file)
    check_minus(tokens, opens, file)


def check_minus(tokens: Sequence[SparqlToken], opens: int, file: str) -> None:
    """Nothing, if MINUS in a group surely has a variable in common with what is before it, or
    surely none.

    Raises:
        QueryError: it has, where an OPTIONAL pattern matches.
    """
    items = [] if is_select(tokens, opens) else list_items(tokens, opens)
    for item in items:
        earlier = [i for i in items if i.last < item.first]
        mine = set(list_variables(tokens, item.places))
        certain, possible = list_bound(tokens, earlier), list_bound(tokens, earlier, optional=True)
        if item.kind is ItemKind.MINUS and not mine & certain and mine & possible:
            raise _refuse(tokens, item, min(mine & possible), file)
        for brace, _ in item.braces if item.kind is ItemKind.GROUP else ():
            check_minus(tokens, brace, file)


def shares_before(tokens: Sequence[SparqlToken], opens: int, clause: Item) -> bool:
    """Whether a clause has a variable of what is before it in its group."""
    earlier = [i for i in list_items(tokens, opens) if i.last < clause.first]
    return not list_bound(tokens, earlier).isdisjoint(list_variables(tokens, clause.places))


def _bind_for(tokens: Sequence[SparqlToken], items: Sequence[Item], item: Item) -> set[str]:
    """What patterns of a group bind where an item sees them: FILTERs see all of them."""
    whole = item.kind in _FILTERS
    return list_bound(tokens, [i for i in items if whole or i.last < item.first])


def _refuse(tokens: Sequence[SparqlToken], item: Item, name: str, file: str) -> QueryError:
    return QueryError(
        f"?{name} in {item.kind}, in a group whose patterns do not bind it",
        why="inside of the group's braces it has another value than outside, or none",
        fix=f"write a pattern with ?{name} in the group, rename it, or write {item.kind} in the "
        "outermost group",
        source=Source(file, tokens[item.first].line),
    )
