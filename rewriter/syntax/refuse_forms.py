"""Forms and clauses of SPARQL that are not in the language."""

from collections.abc import Callable, Sequence

import rdflib

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node

OUTSIDE = (
    "it is outside the query language: SELECT over patterns, GRAPH ?t, UNION, VALUES, BIND, "
    "FILTER, OPTIONAL, MINUS, GROUP BY, aggregates and HAVING"
)
_REFUSED = {
    "OptionalGraphPattern": ("OPTIONAL", "write it in the outermost group, or in GRAPH"),
    "MinusGraphPattern": ("MINUS", "write it in the outermost group, or in GRAPH"),
    "ServiceGraphPattern": ("SERVICE", "declare the other source as a relation in the catalog"),
}
FORMS = {"DescribeQuery": "DESCRIBE"}
_ORDER = (
    "remove it: results are a stream, in order of `at`; `ontoweir show RESULT --sort COLUMN` sorts "
    "answers"
)


def refuse_forms(
    query: Node,
    times: Sequence[str],
    tokens: Tokens,
    refuse: Callable[[str, str, str, int | None], QueryError],
) -> None:
    """Nothing, if a query is a SELECT without LIMIT and OFFSET, whose ORDER BY is by the time of
    its answers, in which they come: one of `times`, from the earliest on.

    Args:
        query: as rdflib parses it.
        times: of a GRAPH, if there is but one, and buckets that are grouped by.
        tokens: of its text.
        refuse: makes the error.

    Raises:
        QueryError: it is not.
    """
    if query.name in FORMS:
        fix = "write SELECT, or SELECT DISTINCT, and the variables"
        raise refuse(FORMS[query.name], OUTSIDE, fix, tokens.line_of("SELECT", *FORMS.values()))
    if "orderby" in query and not _is_by_time(query["orderby"]["condition"], times):
        raise refuse("ORDER BY", OUTSIDE, _ORDER, tokens.line_of("ORDER"))
    if "limitoffset" in query:
        fix = "remove it: results are a stream without an end"
        raise refuse("LIMIT or OFFSET", OUTSIDE, fix, tokens.line_of("LIMIT", "OFFSET"))


def refuse_service(text: str, file: str) -> None:
    """Nothing, if a query has no SERVICE: what is in its braces is not of this project, wherever
    they stand.

    Args:
        text: the query.
        file: where it is.

    Raises:
        QueryError: it has.
    """
    for token in Tokens(text).tokens:
        if token.kind == "word" and token.text.upper() == "SERVICE":
            what, fix = _REFUSED["ServiceGraphPattern"]
            raise QueryError(what, why=OUTSIDE, fix=fix, source=Source(file, token.line))


def _is_by_time(conditions: Sequence[Node], times: Sequence[str]) -> bool:
    if len(conditions) != 1 or conditions[0].get("order", "ASC") != "ASC":
        return False
    made: object = conditions[0]["expr"]
    while isinstance(made, Node) and set(made.keys()) == {"expr"}:
        made = made["expr"]
    return isinstance(made, rdflib.Variable) and str(made) in times


def refuse_pattern(
    part: Node, tokens: Tokens, refuse: Callable[[str, str, str, int | None], QueryError]
) -> None:
    """Raise the error for a pattern that is not in the language."""
    what, fix = _REFUSED.get(part.name, (part.name, "write plain patterns"))
    lines = [t.line for t in tokens.tokens if t.text.upper() == what]
    raise refuse(what, OUTSIDE, fix, lines[-1] if lines else None)
