"""MINUS inside of NOT EXISTS, as NOT EXISTS where both say the same."""

import pytest

from ontoweir.errors import QueryError
from ontoweir.rewriter.clauses.turn_minus import turn_minus


def _write(clause: str, body: str) -> str:
    return f"SELECT ?x {{ ?x :n ?n FILTER {clause} {{ {body} }} }}"


@pytest.mark.parametrize("clause", ["NOT EXISTS", "EXISTS"])
def test_what_takes_away_a_match_is_absent_beside_it(clause: str) -> None:
    text = _write(clause, "?x :f ?f MINUS { ?x :g ?f }")
    turned = _write(clause, "?x :f ?f FILTER NOT EXISTS { ?x :g ?f }")
    assert turn_minus(text, "q.rq").split() == turned.split()


@pytest.mark.parametrize(
    "body",
    [
        "?x :f ?f MINUS { ?x :g ?g }",  # only ?x in common, which has a value from outside
        "?x :f ?f MINUS { ?y :g ?g }",
        "?x :f ?f MINUS { ?x :g ?f ; :h ?h } ?x :h ?h",
        "?x :f ?f MINUS { ?x :g ?f FILTER(?n > 1) }",
        "?x :h ?h OPTIONAL { ?x :f ?f } MINUS { ?x :g ?f }",
        "?x :f ?f MINUS { OPTIONAL { ?x :g ?f } }",
    ],
)
def test_others_stay(body: str) -> None:
    assert turn_minus(_write("NOT EXISTS", body), "q.rq") == _write("NOT EXISTS", body)


def test_what_is_not_agreed_on_is_refused() -> None:
    with pytest.raises(QueryError, match="which is bound around it alone"):
        turn_minus(_write("NOT EXISTS", "?y :f ?f MINUS { ?x :g ?g }"), "q.rq")
