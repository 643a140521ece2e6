"""FILTER of groups around the SELECT that makes them, as HAVING."""

import pytest

from ontoweir.rewriter.grouped.filter_groups import filter_groups

GROUPS = "SELECT ?d (MAX(?t) AS ?last) WHERE { GRAPH ?t { ?o :of ?d } } GROUP BY ?d"


def write(text: str | None) -> str:
    return "".join((text or "").split())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            f"SELECT ?d ?last WHERE {{ {{ {GROUPS} }} FILTER(?last < NOW() - ?x) }}".replace(
                "?x", "1"
            ),
            f"{GROUPS} HAVING(MAX(?t) < NOW() - 1)",
        ),
        (
            f"SELECT ?last ?d {{\n {{ {GROUPS} }}\n FILTER(?last < 1) FILTER(?d != :a) }}",
            (
                "SELECT (MAX(?t) AS ?last) ?d { GRAPH ?t { ?o :of ?d } } GROUP BY ?d "
                "HAVING(MAX(?t) < 1) (?d != :a)"
            ),
        ),
        (
            (
                "SELECT ?d ?n { { SELECT ?d (SUM(?x) * (2 + 1) AS ?n) { GRAPH ?t { ?d :p ?x } } "
                "GROUP BY ?d } FILTER(?n > 3) }"
            ),
            (
                "SELECT ?d (SUM(?x) * (2 + 1) AS ?n) { GRAPH ?t { ?d :p ?x } } GROUP BY ?d "
                "HAVING((SUM(?x) * (2 + 1)) > 3)"
            ),
        ),
    ],
)
def test_both_are_the_groups_of_which_it_holds(text: str, wanted: str) -> None:
    made = filter_groups(text)
    assert write(made) == write(wanted)
    assert (made or "").count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?d {{ {{ {GROUPS} }} FILTER(?last < 1) }}",  # equal rows of several groups
        f"SELECT DISTINCT ?d ?last {{ {{ {GROUPS} }} FILTER(?last < 1) }}",
        f"SELECT ?d ?last {{ {{ {GROUPS} }} }}",
        f"SELECT ?d ?last {{ {{ {GROUPS} }} ?d :p ?x FILTER(?last < ?x) }}",
        f"SELECT ?d ?last {{ {{ {GROUPS} LIMIT 3 }} FILTER(?last < 1) }}",
        f"SELECT ?d ?last {{ {{ {GROUPS} }} FILTER(?last < 1) }} LIMIT 3",
        f"SELECT ?d ?last {{ {{ {GROUPS} }} FILTER EXISTS {{ ?d :p ?x }} }}",
        f"SELECT ?d ?last {{ {{ {GROUPS} }} FILTER(?t < 1) }}",  # a variable that is hidden
        GROUPS,
    ],
)
def test_others_are_left(text: str) -> None:
    assert filter_groups(text) is None
