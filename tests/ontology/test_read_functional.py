"""Functional syntax says the same as Turtle."""

from pathlib import Path

import pytest

from ontoweir.errors import OntologyError
from ontoweir.ontology.load_ontology import load_ontology

FUNCTIONAL = """
Prefix(:=<http://e#>)
# a comment
Ontology(<http://e> <http://e/1>
Annotation(rdfs:label "an ontology"@en)
Declaration(Class(:A)) Declaration(ObjectProperty(:p)) Declaration(DataProperty(:d))
SubClassOf(Annotation(rdfs:comment "why") :A ObjectSomeValuesFrom(:p :B))
SubClassOf(ObjectSomeValuesFrom(ObjectInverseOf(:p) owl:Thing) :C)
DisjointClasses(:A :B :C)
EquivalentClasses(:C :D)
SubObjectPropertyOf(:q ObjectInverseOf(:p))
InverseObjectProperties(:p :r)
ObjectPropertyDomain(:q :A)
SymmetricObjectProperty(:s)
DataPropertyRange(:d xsd:integer)
DataPropertyDomain(:d ObjectIntersectionOf(:A :B))
)
"""
TURTLE = """
@prefix : <http://e#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:A a owl:Class . :p a owl:ObjectProperty . :d a owl:DatatypeProperty .
:q a owl:ObjectProperty . :r a owl:ObjectProperty . :s a owl:ObjectProperty .
:A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ] .
[ a owl:Restriction ; owl:onProperty [ owl:inverseOf :p ] ; owl:someValuesFrom owl:Thing ]
  rdfs:subClassOf :C .
[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) .
:C owl:equivalentClass :D .
:q rdfs:subPropertyOf [ owl:inverseOf :p ] .
:p owl:inverseOf :r .
:q rdfs:domain :A .
:s a owl:SymmetricProperty .
:d rdfs:range xsd:integer .
:d rdfs:domain [ a owl:Class ; owl:intersectionOf ( :A :B ) ] .
"""


def _load(tmp_path: Path, name: str, text: str) -> object:
    (tmp_path / name).write_text(text)
    tbox = load_ontology([tmp_path / name], strict=True)
    facts = {repr(a).split(", because=")[0] for a in tbox.axioms}
    return facts, tbox.classes, tbox.object_properties, tbox.data_properties


def test_functional_syntax_says_what_turtle_says(tmp_path: Path) -> None:
    assert _load(tmp_path, "o.ofn", FUNCTIONAL) == _load(tmp_path, "o.ttl", TURTLE)


def test_axioms_know_their_line(tmp_path: Path) -> None:
    (tmp_path / "o.ofn").write_text(FUNCTIONAL)
    tbox = load_ontology([tmp_path / "o.ofn"])
    lines = {a.because.text: a.because.source.line for a in tbox.axioms if a.because.source}
    assert lines["SubClassOf(:A ObjectSomeValuesFrom(:p :B))"] == 7


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("Ontology(\n SubClassOf(:A :B)\n)", 2, "prefix ':' is not declared"),
        ("Ontology(\n\n SubClassOf(<a> <b>)", 3, "ends too early"),
        ("Ontology(\n Frob(<a> <b>)\n)", 2, "Frob(…) with 2 arguments is not an axiom"),
        ("Ontology(\n SubClassOf(<a> Frob(<b>))\n)", 2, "Frob(…) is not an expression"),
        ("Ontology()\n)", 2, "after the end"),
        ('Ontology(\n SubClassOf(<a> "unended))', 2, "unexpected"),
    ],
)
def test_broken_syntax_is_located(tmp_path: Path, text: str, line: int, what: str) -> None:
    (tmp_path / "o.ofn").write_text(text)
    with pytest.raises(OntologyError) as caught:
        load_ontology([tmp_path / "o.ofn"])
    assert caught.value.source is not None
    assert caught.value.source.line == line
    assert what in str(caught.value)
