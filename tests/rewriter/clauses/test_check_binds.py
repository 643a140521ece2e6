"""BINDs beside OPTIONAL that would see what they do not see."""

import pytest

from ontoweir.errors import QueryError
from ontoweir.rewriter.clauses.check_binds import check_binds
from ontoweir.rewriter.syntax.locate_tokens import Tokens


def check(text: str) -> None:
    tokens = Tokens(text).tokens
    check_binds(tokens, next(n for n, t in enumerate(tokens) if t.text == "{"), "q.rq")


@pytest.mark.parametrize(
    "group",
    [
        "GRAPH ?t { ?x :n ?n OPTIONAL { ?x :p ?v } } BIND(BOUND(?v) AS ?b) OPTIONAL { ?x :f ?v }",
        "GRAPH ?t { ?x :n ?n } BIND(BOUND(?v) AS ?b) OPTIONAL { ?x :f ?v }",
        "OPTIONAL { ?x :f ?v } BIND(?v AS ?b) OPTIONAL { GRAPH ?t { ?x :m ?v } }",
        "GRAPH ?t { ?x :n ?n BIND(COALESCE(?v, 1) AS ?b) } OPTIONAL { ?x :f ?v }",
        "{ ?x :n ?v } UNION { ?x :n ?n } BIND(BOUND(?v) AS ?b) OPTIONAL { ?x :f ?v }",
        "GRAPH ?t { ?x :n ?n } OPTIONAL { ?x :f ?g BIND(COALESCE(?n, 7) AS ?b) }",
        "GRAPH ?t { ?x :n ?n OPTIONAL { ?x :m ?g BIND(BOUND(?n) AS ?b) } }",
        "?x :n ?n OPTIONAL { ?x :f ?g OPTIONAL { ?x :m ?h BIND(?n + 1 AS ?b) } }",
    ],
)
def test_refused(group: str) -> None:
    with pytest.raises(QueryError, match="has no value there yet"):
        check(f"SELECT * {{ {group} }}")


@pytest.mark.parametrize(
    "group",
    [
        "GRAPH ?t { ?x :n ?n } OPTIONAL { ?x :f ?v } BIND(COALESCE(?v, ?n) AS ?b)",
        "GRAPH ?t { ?x :n ?v BIND(?v + 1 AS ?b) } OPTIONAL { ?x :f ?v }",
        "?x :n ?n OPTIONAL { ?x :f ?g BIND(?g + 1 AS ?b) }",
        "?x :n ?n OPTIONAL { ?x :f ?g ; :n ?n BIND(?g + ?n AS ?b) }",
        "{ ?x :n ?v } UNION { ?x :m ?v } BIND(?v + 1 AS ?b) OPTIONAL { ?x :f ?v }",
        "?x :n ?n BIND(?n + 1 AS ?b) OPTIONAL { ?x :f ?b }",
    ],
)
def test_others_are_read(group: str) -> None:
    check(f"SELECT * {{ {group} }}")
