"""Groups of what is beside each of what always holds."""

import pytest

from ontoweir.rewriter.optional.count_beside import count_beside

Q = "GRAPH ?t { ?o :of ?k ; :v ?v }"


@pytest.mark.parametrize(
    ("told", "shown", "beside"),
    [
        ("(COUNT(?o) AS ?n)", "(COALESCE(?n_beside, 0) AS ?n)", "(COUNT ( ?o ) AS ?n_beside)"),
        ("(COUNT(*) AS ?n)", "(COALESCE(?n_beside, 1) AS ?n)", "(COUNT(*) AS ?n_beside)"),
        ("(COUNT(?k) AS ?n)", "(COALESCE(?n_beside, 1) AS ?n)", "(COUNT(*) AS ?n_beside)"),
        ("(MAX(?v) AS ?n)", "?n", "(MAX ( ?v ) AS ?n)"),
        (
            "(COUNT(DISTINCT ?v) AS ?n)",
            "(COALESCE(?n_beside, 0) AS ?n)",
            "(COUNT ( DISTINCT ?v ) AS ?n_beside)",
        ),
    ],
)
def test_groups_are_beside(told: str, shown: str, beside: str) -> None:
    text = f"SELECT ?k {told} {{ ?k a :K OPTIONAL {{ {Q} }} }} GROUP BY ?k"
    made = count_beside(text)
    assert made is not None
    within = f"SELECT ?k {beside} {{ {Q} }} GROUP BY ?k"
    assert made.split() == f"SELECT ?k {shown} {{ ?k a :K OPTIONAL {{ {within} }} }}".split()


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?k (SUM(?v) AS ?n) {{ ?k a :K OPTIONAL {{ {Q} }} }} GROUP BY ?k",
        f"SELECT ?k (MAX(?k) AS ?n) {{ ?k a :K OPTIONAL {{ {Q} }} }} GROUP BY ?k",
        f"SELECT ?k (COUNT(?o) AS ?n) {{ ?k :p ?x OPTIONAL {{ {Q} }} }} GROUP BY ?k",
        f"SELECT ?k (COUNT(?o) AS ?n) {{ ?k a :K OPTIONAL {{ {Q} }} }} GROUP BY ?k ?v",
        f"SELECT ?k (COUNT(?o) AS ?n) {{ ?k a :K . {Q} }} GROUP BY ?k",
        f"SELECT ?k (COUNT(?o) AS ?n) {{ GRAPH ?u {{ ?k a :K }} OPTIONAL {{ {Q} }} }} GROUP BY ?k",
        f"SELECT ?k (COUNT(?o) AS ?n) {{ ?k a :K OPTIONAL {{ {Q} }} }} GROUP BY ?k HAVING(?n > 1)",
        f"SELECT ?k {{ ?k a :K OPTIONAL {{ {Q} }} }}",
    ],
)
def test_others_stay(text: str) -> None:
    assert count_beside(text) is None
