"""CONSTRUCT as a SELECT DISTINCT: rdflib finds the same triples."""

from random import Random

import pytest
import rdflib

from ontoweir.errors import QueryError
from ontoweir.rewriter.syntax.open_construct import open_construct

PREFIX = "PREFIX : <http://e/>\n"
TERMS = ("?x", "?y", "?n", ":c", "?subject")
OBJECTS = (*TERMS, "1", "2.5", '"text"', '"in"@en-GB', '"7"^^<http://e/kind>', "true")
WHERE = (
    "{ ?x :p ?y . ?y :v ?n }",
    "{ ?x :p ?y . # a note }\n OPTIONAL { ?y :v ?n } }",
    "{ { ?x :p ?y } UNION { ?y :p ?x } ?x :v ?n FILTER(?n > 1) }",
    "{ SELECT ?x ?y ?n { ?x :p ?y ; :v ?n } }",
    "{ ?x :p ?y ; :v ?subject BIND(?subject AS ?n) }",
)


@pytest.mark.parametrize("seed", range(30))
def test_its_triples_are_those_of_rdflib(seed: int) -> None:
    random, graph = Random(seed), rdflib.Graph()
    nodes = [rdflib.URIRef(f"http://e/{k}") for k in range(4)]
    for one in nodes:
        graph.add((one, rdflib.URIRef("http://e/p"), random.choice(nodes)))
        graph.add((one, rdflib.URIRef("http://e/v"), rdflib.Literal(random.randint(0, 3))))
    where = random.choice(WHERE)
    parts = []
    for _ in range(random.randint(1, 3)):
        parts.append(f"{random.choice(TERMS)} {random.choice(['a', ':q', '?y'])} ")
        parts.append(" , ".join(random.sample(OBJECTS, k=random.randint(1, 2))))
        if random.random() < 0.3:
            parts.append(f" ; :r {random.choice(OBJECTS)}")
        parts.append(" . ")
    text = f"{PREFIX}CONSTRUCT {{ {''.join(parts)} }} {random.choice(['WHERE', ''])} {where}"
    if _repeats("".join(parts)):
        with pytest.raises(QueryError, match="of one variable twice"):
            open_construct(text, "q.rq")
        return
    opened = open_construct(text, "q.rq")
    assert opened.count("\n") == text.count("\n")
    found = {tuple(row) for row in graph.query(opened)}  # type: ignore[arg-type]
    assert set(graph.query(text).graph or ()) == {t for t in found if None not in t}


def _repeats(template: str) -> bool:
    """Whether a triple of several has a variable twice."""
    triples = []
    for chain in template.split(" . "):
        subject, _, rest = chain.partition(" ")
        for pair in rest.split(" ; ") if rest else []:
            predicate, _, objects = pair.strip().partition(" ")
            triples += [(subject, predicate, one.strip()) for one in objects.split(" , ")]
    names = [[term for term in triple if term[0] == "?"] for triple in triples]
    return len(triples) > 1 and any(len({*held}) < len(held) for held in names)


def test_the_short_form_and_other_texts() -> None:
    short = open_construct(PREFIX + "CONSTRUCT WHERE { ?x :p ?y . ?y :v ?n }", "q")
    assert short.count("UNION") == 1
    plain = PREFIX + "SELECT ?construct { ?construct :p ?y }"
    assert open_construct(plain, "q") == plain


@pytest.mark.parametrize(
    ("template", "message"),
    [("[] :p ?x", "a blank node"), ("_:b :p ?x", "a blank node"), ("", "of no triple")],
)
def test_what_no_select_says_is_refused(template: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        open_construct(f"CONSTRUCT {{ {template} }} WHERE {{ ?x :p ?y }}", "q")
