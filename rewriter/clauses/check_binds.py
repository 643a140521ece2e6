"""BINDs beside OPTIONAL: what they see is bound before them in their own group."""

from collections.abc import Sequence, Set

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.clauses.list_items import (
    Item,
    ItemKind,
    is_select,
    list_bound,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken


def check_binds(
    tokens: Sequence[SparqlToken],
    opens: int,
    file: str,
    after: Set[str] = frozenset(),
    around: Set[str] = frozenset(),
) -> None:
    """Nothing, if a BIND sees the same where it is computed of whole solutions.

    Args:
        tokens: of the text.
        opens: the brace of a group.
        file: where it is.
        after: what is bound behind the group, in those around it.
        around: of OPTIONAL, what is bound around it, which its own group does not see.

    Raises:
        QueryError: a later item, or one around OPTIONAL, binds what it uses.
    """
    items = [] if is_select(tokens, opens) else list_items(tokens, opens)
    for place, item in enumerate(items):
        before, behind = items[:place], items[place + 1 :]
        later = after | list_bound(tokens, behind, optional=True)
        match item.kind:
            case ItemKind.BIND:
                used = set(list_variables(tokens, item.places)[:-1])
                certain = _bind_surely(tokens, before)
                possible = list_bound(tokens, before, optional=True)
                for name in sorted((used & later) - certain):
                    raise _refuse(tokens, item, name, "a later pattern binds it", file)
                for name in sorted((used & around) - possible):
                    raise _refuse(tokens, item, name, "a pattern around OPTIONAL binds it", file)
            case ItemKind.GRAPH | ItemKind.GROUP:
                for brace, _ in item.braces:
                    check_binds(tokens, brace, file, later, around)
            case ItemKind.OPTIONAL:
                others = around | list_bound(tokens, [*before, *behind])
                others |= list_bound(tokens, before, optional=True)
                for brace, _ in item.braces:
                    check_binds(tokens, brace, file, frozenset(), others)
            case _:
                pass


def _bind_surely(tokens: Sequence[SparqlToken], items: Sequence[Item]) -> set[str]:
    """The variables that have a value in every solution of some items."""
    found = set[str]()
    for item in items:
        match item.kind:
            case ItemKind.TRIPLES | ItemKind.VALUES:
                found |= set(list_variables(tokens, item.places))
            case ItemKind.GRAPH | ItemKind.GROUP:
                parts = [_bind_surely(tokens, list_items(tokens, b)) for b, _ in item.braces]
                found |= set.intersection(*parts) if parts else set()
                found |= set(list_variables(tokens, range(item.first, item.braces[0][0])))
            case _:
                pass
    return found


def _refuse(
    tokens: Sequence[SparqlToken], item: Item, name: str, why: str, file: str
) -> QueryError:
    return QueryError(
        f"BIND of ?{name}, which has no value there yet",
        why=f"{why}, and what BIND computes is known only of whole solutions",
        fix=f"write the pattern with ?{name} before BIND, in its group, or rename the variable",
        source=Source(file, tokens[item.first].line),
    )
