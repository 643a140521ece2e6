"""Malformed axioms are left out with a warning, never read in part; whole twins are used."""

from pathlib import Path

import pytest

from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.ontology.tbox import DisjointConcepts, NamedClass

PREFIXES = """
@prefix : <http://x/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:p a owl:ObjectProperty . :q a owl:ObjectProperty .
"""


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("[] a owl:AllDisjointClasses ; owl:members ( :A :B ) .", 1),
        ("[] a owl:AllDisjointClasses ; owl:members 7 .", 0),
        ("[] a owl:AllDisjointClasses ; owl:members ( :A ) .", 0),
        ("[] a owl:AllDisjointClasses .", 0),
        ("[] a owl:AllDisjointProperties ; owl:members ( :p :q ) .", 1),
        ("[] a owl:AllDisjointProperties .", 0),
        (":A rdfs:subClassOf [ owl:intersectionOf ( :B :C ) ] .", 2),
        (":A rdfs:subClassOf [ owl:intersectionOf _:l ] . _:l rdf:first :B ; rdf:rest _:l .", 0),
        (":A rdfs:subClassOf [ owl:intersectionOf _:l ] . _:l rdf:first :B ; rdf:rest _:m .", 0),
        (":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .", 1),
        (":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B , :C ] .", 0),
        ("owl:topObjectProperty rdfs:subPropertyOf :p .", 0),
    ],
)
def test_whole_or_left_out(text: str, used: int, tmp_path: Path) -> None:
    file = tmp_path / "o.ttl"
    file.write_text(PREFIXES + text)
    warnings: list[str] = []
    tbox = load_ontology([file], warn=warnings.append)
    assert len(tbox.axioms) == used
    assert bool(warnings) == (used == 0)


def test_some_nothing_is_nothing(tmp_path: Path) -> None:
    file = tmp_path / "o.ttl"
    file.write_text(
        PREFIXES + ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; "
        "owl:someValuesFrom owl:Nothing ] ."
    )
    (axiom,) = load_ontology([file], strict=True).axioms
    assert isinstance(axiom, DisjointConcepts)
    assert axiom.left == axiom.right == NamedClass("http://x/A")
