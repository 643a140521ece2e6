"""SELECT * within a query: of GRAPHs whose times are around it too."""

from pathlib import Path

import pytest

from ontoweir.rewriter.absence.spell_stars import spell_stars
from tests.sparql_counts.test_heating import ask

ZONE, PRICE = "?m :fedBy/:inZone ?z", "?z :price ?p"
GRAPH = "GRAPH ?t { ?f :of ?m ; :litres ?v }"


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        (GRAPH, "?t ?f ?m ?v"),
        (f"{GRAPH} FILTER(?v > ?w)", "?t ?f ?m ?v"),
        (f"{GRAPH} OPTIONAL {{ ?m :size ?k }} MINUS {{ ?m :owner ?o }}", "?t ?f ?m ?v ?k"),
        (f"{{ {GRAPH} }} UNION {{ ?x :size ?y }}", "?t ?f ?m ?v ?x ?y"),
        (f"{{ SELECT ?t (STR(?m) AS ?k) {{ {GRAPH} }} }}", "?t ?k"),
        (f"{GRAPH} BIND(?v + ?z AS ?k) VALUES (?a ?b) {{ (1 2) }}", "?t ?f ?m ?v ?k ?a ?b"),
        (f"{GRAPH} FILTER NOT EXISTS {{ GRAPH ?u {{ ?g :of ?m }} }}", "?t ?f ?m ?v"),
    ],
)
def test_all_that_is_in_scope_is_named(inner: str, shown: str) -> None:
    text = "SELECT ?m {{ {{ SELECT DISTINCT {} {{ {} }} }} GRAPH ?t {{ ?x :at ?s }} }}"
    assert spell_stars(text.format("*", inner)) == text.format(shown, inner)


def test_times_that_are_nowhere_else_stay_hidden() -> None:
    text = f"SELECT ?m {{ {{ SELECT DISTINCT * {{ {GRAPH} }} }} GRAPH ?u {{ ?x :at ?s }} }}"
    assert spell_stars(text) == text
    assert spell_stars(f"SELECT * {{ {GRAPH} }}") == f"SELECT * {{ {GRAPH} }}"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT ?m ?s {{ {{ SELECT DISTINCT * {{ {GRAPH} }} }} GRAPH ?t {{ ?x :at ?s }} }}",
        f"SELECT ?m {{ {{ SELECT DISTINCT * {{ {GRAPH} }} }} W(t,1m) }}",
        f"SELECT ?v ?p {{ {{ SELECT DISTINCT * {{ {GRAPH} {ZONE} }} }} GRAPH ?t {{ {PRICE} }} }}",
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_time_is_one(query: str, seed: int, tmp_path: Path) -> None:
    assert ask(query, seed, tmp_path).what == "answered"
