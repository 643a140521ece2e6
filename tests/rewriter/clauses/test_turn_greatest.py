"""SELECT (MAX(?u) AS ?t) inside, joined with what has it, as NOT EXISTS."""

import pytest

from ontoweir.rewriter.clauses.turn_greatest import turn_greatest

A = "GRAPH ?t { ?r :of ?m ; :v ?v }"


def turn(body: str, head: str = "?m ?v") -> str:
    """The body of a turned query, its blanks as one each."""
    text = turn_greatest(f"SELECT {head} {{ {body} }}")
    return " ".join(text.split()).removeprefix(f"SELECT {head} {{ ").removesuffix(" }")


@pytest.mark.parametrize(
    ("body", "made"),
    [
        (
            f"{{ SELECT ?m (MAX(?u) AS ?t) {{ GRAPH ?u {{ ?q :of ?m }} }} GROUP BY ?m }} {A}",
            f"FILTER NOT EXISTS {{ GRAPH ?u_1 {{ ?q_1 :of ?m }} FILTER(?u_1 > ?t) }} {A}",
        ),
        (
            (
                f"{A} {{ SELECT ?m (MIN(?t) AS ?f) WHERE {{ GRAPH ?t {{ ?r :of ?m ; :v ?v }} }} "
                "GROUP BY ?m } FILTER(?f = ?t)"
            ),
            f"{A} FILTER NOT EXISTS {{ GRAPH ?t_1 {{ ?r_1 :of ?m ; :v ?v_1 }} FILTER(?t_1 < ?t) }}",
        ),
        (
            (
                f"{{ SELECT (MAX(?w) AS ?v) ?m {{ GRAPH ?u {{ ?q :v ?w . ?q :of ?m . }} }} "
                f"GROUP BY ?m }} {A}"
            ),
            (
                "FILTER NOT EXISTS { GRAPH ?u_1 { ?q_1 :v ?w_1 . ?q_1 :of ?m . } "
                f"FILTER(?w_1 > ?v) }} {A}"
            ),
        ),
    ],
)
def test_what_has_the_greatest_has_no_greater_one(body: str, made: str) -> None:
    assert turn(body) == made


@pytest.mark.parametrize(
    "body",
    [
        # what the first says more than the second may have a greater time than any of it
        f"{{ SELECT ?m (MAX(?u) AS ?t) {{ GRAPH ?u {{ ?q :of ?m ; :w 3 }} }} GROUP BY ?m }} {A}",
        (
            f"{{ SELECT ?m (MAX(?u) AS ?t) {{ GRAPH ?u {{ ?q :of ?m ; :of ?k }} FILTER(?k > 1) }} "
            f"GROUP BY ?m }} {A}"
        ),
        f"{{ SELECT ?m (MAX(?u) AS ?t) {{ GRAPH ?u {{ ?q :of ?m }} }} GROUP BY ?q }} {A}",
        f"{{ SELECT ?m (SUM(?w) AS ?v) {{ GRAPH ?u {{ ?q :of ?m ; :v ?w }} }} GROUP BY ?m }} {A}",
        (
            f"{{ SELECT ?m (MAX(?u) AS ?l) {{ GRAPH ?u {{ ?q :of ?m }} }} GROUP BY ?m }} {A} "
            "FILTER(?t = ?l) FILTER(?l > ?k)"
        ),
        f"{{ SELECT ?m (MAX(?u) AS ?l) {{ GRAPH ?u {{ ?q :of ?m }} }} GROUP BY ?m }} {A}",
        (
            f"{{ SELECT ?m (MAX(?u) AS ?t) {{ GRAPH ?u {{ ?q :of ?m }} }} GROUP BY ?m "
            f"HAVING (COUNT(*) > 1) }} {A}"
        ),
        f"{{ SELECT ?m (MAX(?u) AS ?t) {{ GRAPH ?u {{ ?q :of ?m }} ?q :x 1 }} GROUP BY ?m }} {A}",
    ],
)
def test_what_says_something_else_stays(body: str) -> None:
    assert turn(body) == body


def test_what_a_star_would_show_stays() -> None:
    body = (
        f"{{ SELECT ?m (MAX(?u) AS ?l) {{ GRAPH ?u {{ ?q :of ?m }} }} GROUP BY ?m }} {A} "
        "FILTER(?t = ?l)"
    )
    assert turn(body, "*") == body
    assert "NOT EXISTS" in turn(body)


def test_lines_are_kept() -> None:
    text = (
        "SELECT ?m ?v {\n  { SELECT ?m (MAX(?u) AS ?t)\n    WHERE { GRAPH ?u { ?q :of ?m } }\n"
        f"    GROUP BY ?m }}\n  {A}\n}}"
    )
    made = turn_greatest(text)
    assert made.count("\n") == text.count("\n")
    assert made.split("\n")[4:] == text.split("\n")[4:]
