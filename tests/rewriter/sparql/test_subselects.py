"""SELECTs within a query are read as their patterns; what they do not show is hidden."""

import pytest

from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.sparql.parse_query import parse_query

NAMES = "PREFIX : <urn:x#>\n"


def read(text: str) -> tuple[ConjunctiveQuery, ...]:
    return parse_query(NAMES + text, name="q", file="q.rq")


SAME = (
    ("{ SELECT ?x WHERE { ?x :p ?v } }", "?x :p ?v"),
    (
        "GRAPH ?t { ?x :p ?y } { SELECT ?y { GRAPH ?u { ?y :q ?z FILTER(?z > 3) } } }",
        "GRAPH ?t { ?x :p ?y } GRAPH ?u { ?y :q ?z } FILTER(?z > 3)",
    ),
    ("GRAPH ?t { ?x :p ?y { SELECT ?y { ?y :q ?z } } }", "GRAPH ?t { ?x :p ?y . ?y :q ?z }"),
    ("?x :p ?y { SELECT * { ?y :q ?z } }", "?x :p ?y . ?y :q ?z"),
    (
        "?x :p ?y { { SELECT ?y { ?y :q ?z } } UNION { ?y :r 3 } }",
        "?x :p ?y { { ?y :q ?z } UNION { ?y :r 3 } }",
    ),
    (
        "{ SELECT ?x { ?x :p ?y { SELECT ?y { ?y :q ?z } } } }",
        "?x :p ?y . ?y :q ?z",
    ),
)


@pytest.mark.parametrize(("nested", "flat"), SAME)
@pytest.mark.parametrize("head", ["SELECT ?x", "SELECT DISTINCT ?x", "SELECT (COUNT(*) AS ?n)"])
def test_a_subquery_is_its_pattern(nested: str, flat: str, head: str) -> None:
    assert read(f"{head} {{ {nested} }}") == read(f"{head} {{ {flat} }}")


def test_duplicates_may_be_removed_inside_where_they_are_outside() -> None:
    nested = "SELECT DISTINCT ?x { { SELECT DISTINCT ?x { ?x :p ?v } } }"
    assert read(nested) == read("SELECT DISTINCT ?x { ?x :p ?v }")


def test_what_is_hidden_is_no_column_of_all() -> None:
    (query,) = read("SELECT * { ?x :p ?y { SELECT ?y { ?y :q ?z } } }")
    assert [v.name for v in query.head] == ["x", "y"]
