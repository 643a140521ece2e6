"""OPTIONAL patterns with NOT EXISTS, as alternatives."""

import pytest

from ontoweir.rewriter.optional.open_optional import open_optional

P, Q = 'GRAPH ?t { ?x :p "a"@de-AT } # one\n', "GRAPH ?u { ?x :q ?v }"
ABSENT = "FILTER NOT EXISTS { GRAPH ?w { ?x :q ?y } FILTER(?w > ?u) }"


def test_it_is_there_or_is_not() -> None:
    made = open_optional(f"SELECT ?x ?v {{\n{P} OPTIONAL {{ {Q} {ABSENT} }} FILTER(?x != ?v) }}")
    said, inside = 'GRAPH ?t { ?x :p "a"@de-AT }', f"{Q} {ABSENT}"
    assert made == (
        f"SELECT ?x ?v {{\n{{ {said} {inside} }} UNION {{ {said} FILTER NOT EXISTS "
        f"{{ {inside} }} }}\n FILTER(?x != ?v) }}"
    )


def test_triples_end_before_others() -> None:
    made = open_optional(f"SELECT ?x {{ ?x :p ?y OPTIONAL {{ ?x :r ?z . {Q} {ABSENT} }} }}")
    assert made is not None
    assert made.startswith("SELECT ?x { { ?x :p ?y . ?x :r ?z . GRAPH ?u ")


@pytest.mark.parametrize(
    "body",
    [
        f"GRAPH ?t {{ ?x :p ?y }} OPTIONAL {{ {Q} }}",
        f"OPTIONAL {{ {Q} {ABSENT} }}",
        f"?x :p _:y . OPTIONAL {{ {Q} {ABSENT} }}",
        f"?x :p ?y OPTIONAL {{ ?x :r ?z }} OPTIONAL {{ {Q} {ABSENT} }}",
        f"?x :p ?y OPTIONAL {{ {{ SELECT ?x {{ {Q} {ABSENT} }} }} }}",
    ],
)
def test_others_stay(body: str) -> None:
    assert open_optional(f"SELECT ?x {{ {body} }}") is None
