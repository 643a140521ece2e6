"""Triples that may come again, in a SELECT DISTINCT of their own."""

import pytest

from ontoweir.rewriter.dated.count_once import count_once

PREFIX = "PREFIX : <http://e/> "


def write(text: str) -> str | None:
    def comes_again(iri: str, is_class: bool) -> bool:
        return iri == ("http://e/A" if is_class else "http://e/near")

    made = count_once(PREFIX + text, comes_again)
    return None if made is None else " ".join(made.removeprefix(PREFIX).split())


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (
            "SELECT ?x { ?x a :A ; :floor 2 }",
            "SELECT ?x { { SELECT DISTINCT ?x { ?x a :A } } ?x :floor 2 . }",
        ),
        (
            "SELECT ?x { ?x :near ?y . GRAPH ?t { ?x :near ?z } FILTER NOT EXISTS { ?z a :A } }",
            (
                "SELECT ?x { { SELECT DISTINCT ?x ?y { ?x :near ?y } } . GRAPH ?t { ?x :near ?z } "
                "FILTER NOT EXISTS { { SELECT DISTINCT ?z { ?z a :A } } } }"
            ),
        ),
        (
            "SELECT ?x ?c { ?x a ?c . ?y :near :it }",
            (
                "SELECT ?x ?c { { SELECT DISTINCT ?x ?c { ?x a ?c } } . "
                "{ SELECT DISTINCT ?y { ?y :near :it } } }"
            ),
        ),
        (
            "SELECT ?x { ?x a :A ; :floor 2 . ?x :p ?y }",
            "SELECT ?x { { SELECT DISTINCT ?x { ?x a :A } } ?x :floor 2 . ?x :p ?y }",
        ),
        (
            "SELECT ?x { ?x :near [ a :A ] }",
            (
                "SELECT ?x { { SELECT DISTINCT ?node { ?node a :A } } "
                "{ SELECT DISTINCT ?x ?node { ?x :near ?node } } }"
            ),
        ),
    ],
)
def test_what_may_come_again_is_a_set(text: str, made: str) -> None:
    assert write(text) == made
    assert write(made) is None


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { ?x a :B ; :floor 2 }",
        "SELECT DISTINCT ?x { ?x a :A ; :floor 2 }",
        "SELECT ?x { GRAPH ?t { ?x a :A FILTER NOT EXISTS { ?y a :A } } }",
    ],
)
def test_what_does_not_stays(text: str) -> None:
    assert write(text) is None
