"""FILTERs with EXISTS beside ||, && and !, as the texts of their cases."""

import pytest

from ontoweir.errors import QueryError
from ontoweir.rewriter.clauses.split_choices import split_choices

E, F = "EXISTS { ?x :q 1 }", "EXISTS { ?x :q 2 }"


def _split(expression: str, head: str = "SELECT ?x") -> list[str]:
    text = f"{head} {{ ?x :p ?y FILTER({expression}) }}"
    made = [" ".join(t.split()) for t in split_choices(text, "q.rq")]
    start = len(f"{head} {{ ?x :p ?y ")
    return [t[start:-2] for t in made]


@pytest.mark.parametrize(
    ("expression", "cases"),
    [
        (f"?y > 1 || {E}", ["FILTER(?y > 1)", f"FILTER(!COALESCE((?y > 1), false)) FILTER {E}"]),
        (
            f"NOT {E} || ?y > 1",
            ["FILTER(?y > 1)", f"FILTER NOT {E} FILTER(!COALESCE((?y > 1), false))"],
        ),
        (f"!(?y > 1 || {E})", [f"FILTER(!(?y > 1)) FILTER NOT {E}"]),
        (
            f"!(?y > 1 && {E})",
            ["FILTER(!(?y > 1))", f"FILTER(!COALESCE((!(?y > 1)), false)) FILTER NOT {E}"],
        ),
        (f"{E} || {F}", [f"FILTER {E}", f"FILTER NOT {E} FILTER {F}"]),
        (f"{E} || {E}", [f"FILTER {E}"]),
        (
            f"?y > 1 && (?y < 5 || {E})",
            [
                "FILTER(?y > 1) FILTER(?y < 5)",
                f"FILTER(?y > 1) FILTER(!COALESCE((?y < 5), false)) FILTER {E}",
            ],
        ),
    ],
)
def test_cases_are_disjoint(expression: str, cases: list[str]) -> None:
    assert [c.replace(" ", "") for c in _split(expression)] == [c.replace(" ", "") for c in cases]


def test_under_distinct_cases_may_overlap() -> None:
    assert _split(f"?y > 1 || {E}", "SELECT DISTINCT ?x") == ["FILTER(?y > 1)", f"FILTER {E}"]


def test_lines_stay() -> None:
    text = f"SELECT ?x {{ ?x :p ?y\nFILTER(?y > 1\n|| {E}\n) }}"
    assert all(t.count("\n") == 3 for t in split_choices(text, "q.rq"))


@pytest.mark.parametrize(
    "expression",
    [
        f"{E} = true",
        f"IF({E}, 1, 2) > 1",
        f"?z > 1 || {E}",
        f"COALESCE({E}, false)",
        f"{E} && !{E}",
    ],
)
def test_what_is_no_choice_is_refused(expression: str) -> None:
    with pytest.raises(QueryError):
        _split(expression)


def test_too_many_cases_are_refused() -> None:
    parts = [f"(EXISTS {{ ?x :q {n} }} && EXISTS {{ ?x :r {n} }})" for n in range(9)]
    with pytest.raises(QueryError, match="64 cases"):
        _split(" || ".join(parts))
