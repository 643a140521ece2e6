"""SELECTs within a SPARQL query: their patterns are those of the query, and some variables are
hidden."""

from collections.abc import Callable, Iterable, Iterator

import rdflib

from ontoweir.errors import QueryError
from ontoweir.rewriter.model.query import Variable
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node

_CLAUSES = {
    "orderby": ("ORDER BY", "solutions have no order"),
    "limitoffset": ("LIMIT or OFFSET", "solutions are a stream without an end"),
}
_READ = "it is read as its pattern"
_WHOLE = "write a query of its own for it"


def check_subselects(
    query: Node,
    tokens: Tokens,
    error: Callable[[str, str, str, int | None], QueryError],
    *,
    distinct: bool,
) -> frozenset[Variable]:
    """The variables that SELECTs within a query hide.

    The solutions of such a SELECT, each as often as it is found, are those of its pattern without
    the variables that it does not show: so its pattern may stand in its place, if no other part of
    the query has a variable of one of these names.

    Args:
        query: the query.
        tokens: of its text.
        error: makes an error of what, why, fix and line.
        distinct: duplicates do not count, and may be removed inside too.

    Raises:
        QueryError: a SELECT within it is more than a pattern.
    """
    hidden: set[Variable] = set()
    _, *lines = (token.line for token in tokens.tokens if token.text.upper() == "SELECT")
    for inner, line in zip(_find(query["where"]), lines, strict=True):

        def refuse(what: str, why: str, fix: str, line: int = line) -> QueryError:
            return error(what, why, fix, line)

        for key, (clause, why) in _CLAUSES.items():
            if key in inner:
                raise refuse(f"{clause} in a subquery", f"{_READ}, and {why}", _WHOLE)
        if inner.get("modifier") == "REDUCED" or (inner.get("modifier") and not distinct):
            raise refuse(
                f"SELECT {inner['modifier']} in a subquery",
                "the query around it counts its solutions, of which each would count once over the "
                "whole history",
                "write SELECT DISTINCT in the outermost query",
            )
        shown = inner.get("projection", "*")
        for item in () if shown == "*" else shown:
            if "var" not in item:
                raise refuse(
                    f"an expression in the SELECT of a subquery, as ?{item['evar']},",
                    _READ,
                    f"write BIND(… AS ?{item['evar']}) in its pattern; {_WHOLE}",
                )
        names = set(_variables(inner["where"], None))
        if "valuesClause" in inner:
            raise refuse(
                "VALUES after a subquery",
                _READ,
                "write VALUES in its pattern",
            )
        if shown == "*":
            continue
        mine = names - {str(item["var"]) for item in shown}
        both = sorted(mine & set(_variables(query, inner)))
        if both:
            raise refuse(
                f"?{both[0]} within a subquery and around it",
                "the subquery does not show it: they are two variables of one name",
                f"rename one of them, or add ?{both[0]} to the SELECT of the subquery if they are "
                "one",
            )
        hidden |= set(map(Variable, mine))
    return frozenset(hidden)


def _find(node: object) -> Iterator[Node]:
    """The SELECTs within a part of a query, each before those in it."""
    if isinstance(node, Node):
        if node.name == "SubSelect":
            yield node
        for part in node.values():
            yield from _find(part)
    elif isinstance(node, list | tuple):
        for part in node:
            yield from _find(part)


def _variables(node: object, without: Node | None) -> Iterator[str]:
    """The names of the variables in a part of a query, but for one part of it."""
    if node is without and without is not None:
        return
    if isinstance(node, rdflib.Variable):
        yield str(node)
    elif isinstance(node, Node):
        for part in node.values():
            yield from _variables(part, without)
    elif isinstance(node, Iterable) and not isinstance(node, str):  # terms are texts
        for part in node:
            yield from _variables(part, without)
