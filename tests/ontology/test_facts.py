"""Assertions about individuals: which are used, and why the others are not."""

from pathlib import Path

import pytest

from ontoweir.errors import OntologyError
from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.ontology.tbox import ClassFact, Fact, RoleFact, Value

E = "http://e/"
XSD = "http://www.w3.org/2001/XMLSchema#"
TURTLE = f"""@prefix : <{E}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:p a owl:ObjectProperty . :v a owl:DatatypeProperty . :note a owl:AnnotationProperty .
"""
FUNCTIONAL = f"""Prefix(:=<{E}>)
Ontology(
Declaration(ObjectProperty(:p)) Declaration(DataProperty(:v))
%s
)
"""
XML = f"""<?xml version="1.0"?>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="{E}o">
<Prefix name="" IRI="{E}"/>
%s
</Ontology>
"""


def load(folder: Path, name: str, text: str, *, strict: bool = True) -> tuple[Fact, ...]:
    (folder / name).write_text(text)
    return load_ontology([folder / name], strict=strict, warn=lambda _: None).facts


def bare(fact: Fact) -> tuple[object, ...]:
    if isinstance(fact, ClassFact):
        return (fact.cls, fact.individual)
    return (fact.prop, fact.subject, fact.object)


SAME = {
    "turtle": [":a a :A .", ":a :p :b .", ":a :v 5 .", ':a :v "x"@en .'],
    "functional": [
        "ClassAssertion(:A :a)",
        "ObjectPropertyAssertion(ObjectInverseOf(:p) :b :a)",
        f'DataPropertyAssertion(:v :a "5"^^<{XSD}integer>)',
        'DataPropertyAssertion(:v :a "x"@en)',
    ],
    "xml": [
        (
            '<ClassAssertion><Class abbreviatedIRI=":A"/><NamedIndividual abbreviatedIRI=":a"/>'
            "</ClassAssertion>"
        ),
        (
            '<ObjectPropertyAssertion><ObjectInverseOf><ObjectProperty abbreviatedIRI=":p"/>'
            '</ObjectInverseOf><NamedIndividual IRI="b"/><NamedIndividual IRI="a"/>'
            "</ObjectPropertyAssertion>"
        ),
        (
            '<DataPropertyAssertion><DataProperty IRI="v"/><NamedIndividual IRI="a"/>'
            f'<Literal datatypeIRI="{XSD}integer">5</Literal></DataPropertyAssertion>'
        ),
        (
            '<DataPropertyAssertion><DataProperty IRI="v"/><NamedIndividual IRI="a"/>'
            '<Literal xml:lang="en">x</Literal></DataPropertyAssertion>'
        ),
    ],
}
MEANT = [
    (E + "A", E + "a"),
    (E + "p", E + "a", E + "b"),
    (E + "v", E + "a", Value("5", XSD + "integer")),
    (E + "v", E + "a", Value("x", None, "en")),
]


@pytest.mark.parametrize("number", range(4))
def test_the_same_fact_in_every_syntax(tmp_path: Path, number: int) -> None:
    for name, text in (
        ("o.ttl", TURTLE + SAME["turtle"][number]),
        ("o.ofn", FUNCTIONAL % SAME["functional"][number]),
        ("o.owx", XML % SAME["xml"][number]),
    ):
        (fact,) = load(tmp_path, name, text)
        assert bare(fact) == MEANT[number]
        assert fact.because.source is not None
        assert fact.because.source.line in (4, 5)


def test_facts_belong_to_the_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(TURTLE + ":a a :A ; :q :b . :q rdfs:domain :D .")
    tbox = load_ontology([tmp_path / "o.ttl"], strict=True)
    assert tbox.knows(E + "A")
    assert [bare(f) for f in tbox.facts] == [(E + "A", E + "a"), (E + "q", E + "a", E + "b")]
    assert isinstance(tbox.facts[1], RoleFact)


@pytest.mark.parametrize(
    "text",
    [
        ":a a owl:NamedIndividual .",
        ":a a owl:Thing .",
        ":a owl:differentFrom :b .",
        "[] a owl:AllDifferent ; owl:distinctMembers ( :a :b ) .",
        ':a :note "said of it" .',
        ':a <http://purl.org/dc/terms/title> "not declared, so an annotation" .',
        ':a rdfs:label "a" .',
    ],
)
def test_what_makes_no_fact_and_is_right(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, "o.ttl", TURTLE + text) == ()


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("o.ttl", "_:x a :A .", "no anonymous individuals"),
        ("o.ttl", ":a :p _:x .", "no anonymous individuals"),
        ("o.ttl", ":a a [ owl:unionOf ( :A :B ) ] .", "about class names only"),
        (
            "o.ttl",
            ":a a [ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] .",
            "about class names only",
        ),
        ("o.ttl", ":a a owl:Nothing .", "inconsistent"),
        ("o.ttl", ":a owl:sameAs :b .", "no SameIndividual"),
        ("o.ttl", ':a :p "x" .', "not literals"),
        ("o.ttl", ":a :v :b .", "not individuals"),
        ("o.ttl", f':a :v "x"^^<{XSD}integer> .', "'x' is no"),
        (
            "o.ttl",
            (
                "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :a ; "
                "owl:assertionProperty :p ; owl:targetIndividual :b ."
            ),
            "no NegativePropertyAssertion",
        ),
        ("o.ofn", "NegativeObjectPropertyAssertion(:p :a :b)", "no NegativePropertyAssertion"),
        ("o.ofn", "SameIndividual(:a :b)", "no SameIndividual"),
        ("o.ofn", "DLSafeRule(Body(ClassAtom(:A Variable(:x))) Head())", "no DLSafeRule"),
    ],
)
def test_what_the_profile_does_not_have(tmp_path: Path, name: str, text: str, rule: str) -> None:
    whole = FUNCTIONAL % text if name.endswith("ofn") else TURTLE + text
    assert load(tmp_path, name, whole, strict=False) == ()
    with pytest.raises(OntologyError) as caught:
        load(tmp_path, name, whole)
    assert rule in caught.value.why
    assert caught.value.source is not None
    assert caught.value.source.line is not None
