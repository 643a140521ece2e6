"""Texts whose patterns of dated nodes are put into GRAPH of their time."""

from dataclasses import dataclass, field

import pytest

from ontoweir.errors import Source
from ontoweir.rewriter.dated.date_nodes import date_nodes
from ontoweir.rewriter.dated.node_times import StreamKey

PREFIX = "PREFIX : <http://e/> "


@dataclass
class Times:
    """Readings are dated, by their class, and by what they are of; what is at a time says so."""

    rests: dict[StreamKey, None] = field(default_factory=dict)

    def are_dated(self, iri: str, *, is_class: bool, at_object: bool = False) -> bool:
        if is_class:
            return iri == "http://e/Reading"
        return iri == ("http://e/made" if at_object else "http://e/of")

    def is_time(self, iri: str) -> bool:
        return iri in ("http://e/at", "http://e/until")


def write(text: str) -> str | None:
    made = date_nodes(PREFIX + text, Times())
    return None if made is None else " ".join(made.text.removeprefix(PREFIX).split())


CASES = {
    "the time that is asked for": (
        "SELECT ?v ?t { ?o a :Reading ; :value ?v ; :at ?t }",
        "SELECT ?v ?t { GRAPH ?t { ?o a :Reading ; :value ?v ; :at ?t_told } }",
    ),
    "a time of its own": (
        "SELECT ?v { ?o a :Reading ; :value ?v . ?o :of ?s }",
        "SELECT ?v { GRAPH ?o_time { ?o a :Reading ; :value ?v } . GRAPH ?o_time { ?o :of ?s } }",
    ),
    "what else is said stays": (
        "SELECT ?v { ?o a :Reading ; :value ?v ; :at ?t . ?s :floor 2 FILTER(?t > ?v) }",
        (
            "SELECT ?v { GRAPH ?t { ?o a :Reading ; :value ?v ; :at ?t_told } . ?s :floor 2 "
            "FILTER(?t > ?v) }"
        ),
    ),
    "at one time": (
        "SELECT ?v { ?o :of ?s ; :value ?v ; :at ?t . ?p :of ?s ; :at ?t }",
        (
            "SELECT ?v { GRAPH ?t { ?o :of ?s ; :value ?v ; :at ?t_told } . "
            "GRAPH ?t { ?p :of ?s ; :at ?t_told1 } }"
        ),
    ),
    "an object": (
        "SELECT ?s { ?s a :Sensor ; :made ?o ; :floor 2 }",
        "SELECT ?s { ?s a :Sensor . GRAPH ?o_time { ?s :made ?o } ?s :floor 2 . }",
    ),
    "brackets": (
        "SELECT ?s { [] :of ?s ; :at ?t }",
        "SELECT ?s { GRAPH ?t { ?node :of ?s . ?node :at ?t_told } }",
    ),
    "brackets with what is said": (
        'SELECT ?s { ?s :made [ :value "1"^^:x , -2 ; :at ?t ] }',
        (
            'SELECT ?s { GRAPH ?t { ?node :value "1"^^:x . ?node :value -2 . ?node :at ?t_told . '
            "?s :made ?node } }"
        ),
    ),
    "a label": (
        "SELECT ?s { _:o :of ?s ; :at ?t . _:p :floor 2 }",
        "SELECT ?s { GRAPH ?t { ?o :of ?s ; :at ?t_told } . ?p :floor 2 }",
    ),
    "a path": (
        "SELECT ?r { ?o a :Reading ; :by/^:hosts ?r }",
        "SELECT ?r { GRAPH ?o_time { ?o a :Reading . ?o :by ?node } ?r :hosts ?node . }",
    ),
    "a path to a time": (
        "SELECT ?t { ?o a :Reading ; :by/:at ?t . ?s :made/:at ?u }",
        (
            "SELECT ?t { GRAPH ?o_time { ?o a :Reading . ?o :by ?node } ?node :at ?t . "
            "GRAPH ?u { ?s :made ?node1 . ?node1 :at ?u_told } }"
        ),
    ),
    "another variable for what is not there": (
        "SELECT * { ?o a :Reading ; :value ?v ; :at ?t }",
        "SELECT ?o ?v ?t { GRAPH ?t { ?o a :Reading ; :value ?v ; :at ?t_told } }",
    ),
    "absence": (
        "SELECT ?s { ?o :of ?s ; :at ?t FILTER NOT EXISTS { ?p :of ?s ; :at ?u FILTER(?u > ?t) } }",
        (
            "SELECT ?s { GRAPH ?t { ?o :of ?s ; :at ?t_told } FILTER NOT EXISTS { "
            "GRAPH ?u { ?p :of ?s ; :at ?u_told } FILTER(?u > ?t) } }"
        ),
    ),
    "more of one node": (
        "SELECT ?s { ?o :of ?s ; :at ?t OPTIONAL { ?o :note ?n FILTER(?t > ?n) } }",
        (
            "SELECT ?s { GRAPH ?t { ?o :of ?s ; :at ?t_told } "
            "OPTIONAL { GRAPH ?t { ?o :note ?n } FILTER(?t > ?n) } }"
        ),
    ),
    "a group that must not see the time": (
        "SELECT ?s { ?o :of ?s ; :at ?t { ?o :p ?n FILTER(?t > ?n) } UNION { ?o :q ?n } }",
        (
            "SELECT ?s { GRAPH ?t { ?o :of ?s ; :at ?t_told } "
            "{ GRAPH ?o_time { ?o :p ?n } FILTER(?t > ?n) } UNION { GRAPH ?t { ?o :q ?n } } }"
        ),
    ),
    "a query within": (
        (
            "SELECT ?s ?m { ?o :of ?s ; :at ?t { SELECT ?s (MAX(?v) AS ?m) "
            "{ ?o :of ?s ; :value ?v } "
            "GROUP BY ?s } }"
        ),
        (
            "SELECT ?s ?m { GRAPH ?t { ?o :of ?s ; :at ?t_told } { SELECT ?s (MAX(?v) AS ?m) { "
            "GRAPH ?o_time { ?o :of ?s ; :value ?v } } GROUP BY ?s } }"
        ),
    ),
    "two times of one node": (
        "SELECT ?s { ?o :of ?s ; :at ?t ; :until ?u . ?p :of ?s ; :at ?u }",
        (
            "SELECT ?s { GRAPH ?t { ?o :of ?s ; :at ?t_told ; :until ?u_told } "
            "FILTER(?u_told = ?u) . "
            "GRAPH ?u { ?p :of ?s ; :at ?u_told1 } }"
        ),
    ),
    "dollars": (
        "SELECT $v { $o a :Reading ; :value ?v ; :at $t }",
        "SELECT ?v { GRAPH ?t { ?o a :Reading ; :value ?v ; :at ?t_told } }",
    ),
}


@pytest.mark.parametrize(("text", "made"), CASES.values(), ids=CASES)
def test_what_is_said_is_in_graph(text: str, made: str) -> None:
    assert write(text) == made


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?v { ?s :value ?v }",
        "SELECT ?v { ?s a ?c ; :at ?t }",
        "SELECT ?v { GRAPH ?t { ?o a :Reading ; :value ?v } }",
        "SELECT ?v { ?o :of* ?v }",
    ],
)
def test_what_is_not_dated_stays(text: str) -> None:
    assert write(text) is None


@pytest.mark.parametrize(
    "more",
    ["?day :begins ?t", "VALUES ?t { 1 2 }", "BIND(?v AS ?t)", "GRAPH ?g { ?x :y ?t }"],
)
def test_a_time_that_is_more_than_that_has_no_graph(more: str) -> None:
    made = write(f"SELECT ?v {{ ?o a :Reading ; :at ?t . {more} }}")
    assert made is not None
    assert made.startswith("SELECT ?v { GRAPH ?o_time { ?o a :Reading ; :at ?t }")


def test_places_are_those_of_the_text() -> None:
    made = date_nodes(f"{PREFIX}SELECT ?v\n{{ ?o a :Reading .\n ?s :value ?v }}", Times())
    assert made is not None
    other, changed = Source("q", 3, 2, 4), Source("q", 2, 9, 11)
    assert made.place_back(other) == other
    assert made.place_back(changed) == Source("q", 2)
    assert made.place_back(None) is None
