"""Clauses in GRAPH, in groups and in UNION, as those of the outermost group."""

import pytest

from ontoweir.errors import QueryError
from ontoweir.rewriter.clauses.lift_clauses import lift_clauses


def _lift(group: str) -> list[str]:
    lifted = lift_clauses(f"SELECT ?x {{ {group} }}", "q.rq")
    assert lifted is not None
    return [" ".join(text.split()) for text in (*lifted.texts, lifted.joined)]


@pytest.mark.parametrize(
    ("group", "lifted"),
    [
        (
            "GRAPH ?t { ?x :p ?y . OPTIONAL { ?x :q ?z } FILTER(?y > 3) ?x :r ?w }",
            (
                "GRAPH ?t { ?x :p ?y . } OPTIONAL { GRAPH ?t { ?x :q ?z } } FILTER(?y > 3) "
                "GRAPH ?t { ?x :r ?w }"
            ),
        ),
        (
            "GRAPH ?t { ?x :p ?y FILTER NOT EXISTS { GRAPH ?u { ?x :q ?y } FILTER(?u < ?t) } }",
            "GRAPH ?t { ?x :p ?y } FILTER NOT EXISTS { GRAPH ?u { ?x :q ?y } FILTER(?u < ?t) }",
        ),
        (
            "GRAPH ?t { ?x :p ?y MINUS { ?z :q 1 } MINUS { ?x :q 2 } }",  # the first shares nothing
            "GRAPH ?t { ?x :p ?y } MINUS { GRAPH ?t { ?x :q 2 } }",
        ),
        (
            "GRAPH ?t { { ?x :p ?y } UNION { ?x :q ?y } OPTIONAL { ?x :r ?z } }",
            (
                "{ GRAPH ?t { ?x :p ?y } } UNION { GRAPH ?t { ?x :q ?y } } "
                "OPTIONAL { GRAPH ?t { ?x :r ?z } }"
            ),
        ),
        (
            "GRAPH ?t { ?x :p ?y } FILTER(?y > 1 && !EXISTS { ?x :q ?z } && ?y < 9)",
            "GRAPH ?t { ?x :p ?y } FILTER( ?y > 1) FILTER NOT EXISTS { ?x :q ?z } FILTER( ?y < 9)",
        ),
        (
            "GRAPH ?t { ?x :p ?y } FILTER((NOT EXISTS { ?x :q ?z }))",
            "GRAPH ?t { ?x :p ?y } FILTER NOT EXISTS { ?x :q ?z }",
        ),
        (
            (
                "GRAPH ?t { ?x :p ?y } FILTER NOT EXISTS { { GRAPH ?u { ?x :q 1 } } UNION { "
                "GRAPH ?v { ?x :q 2 } FILTER(?v < ?t) } FILTER(?y > 3) }"
            ),
            (
                "GRAPH ?t { ?x :p ?y } FILTER NOT EXISTS { GRAPH ?u { ?x :q 1 } FILTER(?y > 3) } "
                "FILTER NOT EXISTS { GRAPH ?v { ?x :q 2 } FILTER(?v < ?t) FILTER(?y > 3) }"
            ),
        ),
        (
            (  # what it compares is bound in it
                "GRAPH ?t { ?x :p ?y } FILTER NOT EXISTS { { GRAPH ?u { ?x :q ?z } FILTER(?z > 1) "
                "} UNION { GRAPH ?v { ?x :q 2 } } }"
            ),
            (
                "GRAPH ?t { ?x :p ?y } FILTER NOT EXISTS { { GRAPH ?u { ?x :q ?z } FILTER(?z > 1) "
                "} UNION { GRAPH ?v { ?x :q 2 } } }"
            ),
        ),
        (
            (  # beside other patterns
                "GRAPH ?t { ?x :p ?y } FILTER NOT EXISTS { ?x :r ?w { ?x :q ?z FILTER(?y > 1) } "
                "UNION { ?x :q 2 } }"
            ),
            (
                "GRAPH ?t { ?x :p ?y } FILTER NOT EXISTS { ?x :r ?w { ?x :q ?z FILTER(?y > 1) } "
                "UNION { ?x :q 2 } }"
            ),
        ),
        (
            "{ GRAPH ?t { ?x :p ?y } OPTIONAL { ?x :q ?z } } ?x :r ?w",
            "GRAPH ?t { ?x :p ?y } OPTIONAL { ?x :q ?z } . ?x :r ?w",
        ),
    ],
)
def test_a_clause_is_moved_out(group: str, lifted: str) -> None:
    text, joined = _lift(group)
    assert text.replace(" ", "") == f"SELECT ?x {{ {lifted} }}".replace(" ", "")
    assert joined == text


def test_branches_of_a_union_are_texts() -> None:
    one, two, joined = _lift(
        "{ GRAPH ?t { ?x :p ?y } MINUS { ?x :q ?z } } UNION "
        "{ GRAPH ?u { ?x :r ?y } FILTER(?y > 1) }"
    )
    assert one == "SELECT ?x { GRAPH ?t { ?x :p ?y } MINUS { ?x :q ?z } . }"
    assert two == "SELECT ?x { GRAPH ?u { ?x :r ?y } FILTER(?y > 1) . }"
    assert "UNION" not in joined
    assert "FILTER" not in joined
    assert "?u" in joined


def test_more_texts_than_there_may_be_are_refused_before_they_are_written() -> None:
    union = "{ GRAPH ?t { ?x :p ?y MINUS { ?x :q 1 } } } UNION { GRAPH ?t { ?x :r ?y } } "
    with pytest.raises(QueryError, match="more than 64 queries"):
        _lift(union * 40)


def test_lines_stay() -> None:
    text = "SELECT ?x {\n GRAPH ?t {\n ?x :p ?y # a } comment\n OPTIONAL {\n ?x :q ?z }\n }\n }"
    lifted = lift_clauses(text, "q.rq")
    assert lifted is not None
    places = [[n for n, line in enumerate(t.split("\n")) if ":q" in line] for t in lifted.texts]
    assert places == [[4]]


def test_what_has_no_clause_is_left() -> None:
    assert lift_clauses("SELECT ?x { ?x :optional ?minus }", "q.rq") is None
    groups = "SELECT ?x (COUNT(*) AS ?c) { ?x :p ?y MINUS { ?x :q 1 } } GROUP BY ?x"
    assert lift_clauses(f"SELECT ?x {{ {{ {groups} }} }}", "q.rq") is None


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("{ GRAPH ?t { ?x :p ?y } OPTIONAL { ?x :q ?z } } ?z :r ?w", "z"),
        ("{ GRAPH ?t { ?x :p ?y } MINUS { ?x :q ?w } } ?x :r ?w", "w"),
        (
            (
                "{ GRAPH ?t { ?x :p ?y } OPTIONAL { ?x :q ?z } FILTER(?z > 1) } UNION "
                "{ GRAPH ?t { ?x :r ?y } }"
            ),
            "z",
        ),
        ("?z :r ?w . GRAPH ?t { ?x :p ?y OPTIONAL { ?x :q ?z } VALUES ?z { 1 } }", "z"),
        ("GRAPH ?t { ?x :p ?y OPTIONAL { ?x :q ?z } MINUS { ?v :r ?z } }", "z"),
        ("GRAPH ?t { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z } } ?z :r ?w", "z"),
    ],
)
def test_what_would_mean_something_else_is_refused(group: str, name: str) -> None:
    with pytest.raises(QueryError) as caught:
        _lift(group)
    assert caught.value.what.startswith(f"?{name} in ")
    assert "in a group whose patterns do not bind it" in caught.value.what


def test_twin_where_an_expression_reads_it() -> None:
    """FILTER and BIND see the variable as the group leaves it."""
    text, _ = _lift("{ GRAPH ?t { ?x :p ?y } OPTIONAL { ?x :q ?z } } FILTER(!BOUND(?z))")
    assert "FILTER(!BOUND(?z))" in text


def test_a_computed_value_of_a_branch_is_refused() -> None:
    branch = "{ GRAPH ?t { ?x :p ?y } MINUS { ?x :q 1 } BIND(?y + 1 AS ?z) }"
    with pytest.raises(QueryError, match="BIND in a group of UNION"):
        _lift(f"{branch} UNION {{ GRAPH ?t {{ ?x :r ?z }} }}")


@pytest.mark.parametrize(
    "inner",
    [
        "SELECT ?x (MAX(?t) AS ?l) (COUNT(*) AS ?n) { GRAPH ?t { ?x :p ?y } } GROUP BY ?x",
        "SELECT DISTINCT ?x { GRAPH ?t { ?x :p ?y } }",
    ],
)
def test_a_select_that_hides_its_times(inner: str) -> None:
    with pytest.raises(QueryError, match=r"it does not show \?t, the time of its rows"):
        _lift(f"{{ {inner} }} FILTER NOT EXISTS {{ GRAPH ?u {{ ?x :q 1 }} }}")
    for shown in ("*", "?x ?t"):
        _lift(
            f"{{ SELECT DISTINCT {shown} {{ GRAPH ?t {{ ?x :p ?y }} }} }} FILTER NOT EXISTS {{ "
            "GRAPH ?u { ?x :q 1 } }"
        )
