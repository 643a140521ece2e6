"""ASK as the SELECT DISTINCT of its truth value."""

import pytest

from ontoweir.rewriter.syntax.open_ask import open_ask


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("ASK { ?x :p 1 }", "SELECT DISTINCT ?ask { ?x :p 1  BIND(true AS ?ask) }"),
        (
            "PREFIX ask: <u:> ask FROM <g> WHERE {\n?ask :p 1 # }\n}",
            (
                "PREFIX ask: <u:> SELECT DISTINCT ?ask1 FROM <g> WHERE {\n?ask :p 1 # }\n "
                "BIND(true AS ?ask1) }"
            ),
        ),
        (
            "ASK { SELECT ?x { ?x :p 1 } }",
            "SELECT DISTINCT ?ask {{ SELECT ?x { ?x :p 1 } } BIND(true AS ?ask) }",
        ),
    ],
)
def test_an_ask_is_a_select(text: str, opened: str) -> None:
    assert open_ask(text) == opened
    assert open_ask(opened) == opened


@pytest.mark.parametrize("text", ["SELECT ?x { ?x :ask 1 }", "ASK { ?x :p 1", "ASK", ""])
def test_other_texts_stay(text: str) -> None:
    assert open_ask(text) == text
