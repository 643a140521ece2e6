"""SELECTs within a text, as their patterns."""

import pytest

from ontoweir.rewriter.clauses.open_selects import open_selects


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        (
            "SELECT ?x { { SELECT ?x WHERE { ?x :p ?y MINUS { ?x :q ?y } } } ?x :r ?y }",
            "SELECT ?x { { ?x :p ?y_of1 MINUS { ?x :q ?y_of1 } } ?x :r ?y }",
        ),
        (
            "SELECT ?x { { SELECT ?x (?y + ?x AS ?k) { ?x :p ?y } } }",
            "SELECT ?x { { ?x :p ?y_of1 BIND(?y_of1 + ?x AS ?k) } }",
        ),
        (
            "SELECT DISTINCT ?x { { SELECT DISTINCT * { ?x :p ?y } } }",
            "SELECT DISTINCT ?x { { ?x :p ?y } }",
        ),
    ],
)
def test_patterns_alone_are_opened(text: str, opened: str) -> None:
    assert " ".join(open_selects(text).split()).replace("BIND(?", "BIND(?") == opened


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { { SELECT DISTINCT ?x { ?x :p ?y } } }",
        "SELECT * { { SELECT ?x { ?x :p ?y } } }",
        "SELECT ?x { { SELECT ?x { ?x :p ?y } LIMIT 3 } }",
        "SELECT ?x { { SELECT ?x (COUNT(*) AS ?c) { ?x :p ?y } GROUP BY ?x } }",
        "SELECT ?x { { SELECT ?x (ow:quantile(?y, 0.5) AS ?c) { ?x :p ?y } } }",
        "SELECT ?x { ?x :p ?y FILTER EXISTS { { SELECT ?x { ?x :p ?y } } } }",
    ],
)
def test_others_stay(text: str) -> None:
    assert open_selects(text) == text
