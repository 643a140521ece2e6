"""Which sums of a text are marked, so that they are computed as they are written."""

import pytest

from ontoweir.rewriter.clauses.list_items import list_items
from ontoweir.rewriter.rounded.wrap_sums import is_of_several, wrap_sums
from ontoweir.rewriter.syntax.locate_tokens import Tokens


@pytest.mark.parametrize(
    ("filter_", "marked"),
    [
        ("FILTER(?a - ?b > 2)", "FILTER(COALESCE(?a - ?b) > 2)"),
        ("FILTER(?a > ?b + 2)", "FILTER(?a > COALESCE(?b + 2))"),
        ("FILTER(?a - ?b > 2 && ?c < 5)", "FILTER(COALESCE(?a - ?b) > 2 ) FILTER( ?c < 5)"),
        ("FILTER(?a - ?b > 2 || ?c < 5)", "FILTER(COALESCE(?a - ?b) > 2 || ?c < 5)"),
        ("FILTER(!(?a - ?b = ?c))", "FILTER(!(COALESCE(?a - ?b) = ?c))"),
        ("FILTER((?a + ?b) / 2 > ?c)", "FILTER((COALESCE(?a + ?b)) / 2 > ?c)"),
        ("FILTER(ABS(?a - ?b) > 2)", "FILTER(ABS(COALESCE(?a - ?b)) > 2)"),
        ("BIND(?a - ?b AS ?c)", "BIND(COALESCE(?a - ?b) AS ?c)"),
        ("FILTER(?a IN (?b + 1, 2))", "FILTER(?a IN (COALESCE(?b + 1), 2))"),
    ],
)
def test_sums_are_marked_once(filter_: str, marked: str) -> None:
    before = "SELECT * { GRAPH ?t { ?x :p ?a ; :q ?b ; :r ?c } "
    made = wrap_sums(f"{before}{filter_} }}")
    assert made == f"{before}{marked} }}"
    assert wrap_sums(made) is None


@pytest.mark.parametrize(
    "filter_",
    [
        "FILTER(?a > 2)",
        "FILTER(?t <= ?u + ?a)",
        'FILTER(?w <= ?u2 + "PT5M"^^xsd:dayTimeDuration)',
        "FILTER(?a = -2)",
        "FILTER(?a * 2 > ?b)",
        "FILTER(COALESCE(?a + 1, 0) > 2)",
    ],
)
def test_what_is_no_sum_of_values_stays(filter_: str) -> None:
    assert wrap_sums(f"SELECT * {{ GRAPH ?u {{ ?x :p ?a ; :q ?b }} {filter_} }}") is None


@pytest.mark.parametrize(
    ("filter_", "several"),
    [
        ("FILTER(COALESCE(?a - ?b) > 2)", True),
        ("FILTER(COALESCE(?b + 2) > ?a)", False),
        ("FILTER(COALESCE(?a, ?b) > 2)", False),
        ("FILTER(?a - ?b > 2)", False),
        ("BIND(COALESCE(?a - ?b) AS ?c)", True),
    ],
)
def test_what_waits_for_several_rows(filter_: str, several: bool) -> None:
    tokens = Tokens(f"{{ {filter_} }}").tokens
    (item,) = list_items(tokens, 0)
    assert is_of_several(tokens, item) is several
