"""What an ontology file means, and what is said about one that is broken or outside OWL 2 QL."""

from pathlib import Path

import pytest

from ontoweir.errors import OntologyError
from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.ontology.tbox import (
    Basic,
    DataRange,
    DisjointRoles,
    Exists,
    NamedClass,
    Role,
    SubExists,
    TBox,
)

PREFIXES = """@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

INVERSE_DOMAIN = (
    "[ owl:onProperty [ owl:inverseOf :p ] ; owl:someValuesFrom owl:Thing ] rdfs:subClassOf :A ."
)


def load(tmp_path: Path, turtle: str, *, strict: bool = True) -> tuple[TBox, list[str]]:
    path = tmp_path / "o.ttl"
    path.write_text(PREFIXES + turtle, encoding="utf-8")
    warnings: list[str] = []
    return load_ontology([path], strict=strict, warn=warnings.append), warnings


def cls(name: str) -> NamedClass:
    return NamedClass(f"http://e/{name}")


def role(name: str) -> Role:
    return Role(f"http://e/{name}")


def below(tbox: TBox, basic: Basic) -> set[Basic]:
    return {b for b, _ in tbox.subconcepts(basic)}


@pytest.mark.parametrize(
    ("turtle", "sub", "sup"),
    [
        (":A rdfs:subClassOf :B .", cls("A"), cls("B")),
        (":A owl:equivalentClass :B .", cls("B"), cls("A")),
        (
            (
                ":d a owl:DatatypeProperty ; rdfs:range xsd:integer . "
                "[ owl:onProperty :d ; owl:someValuesFrom xsd:integer ] rdfs:subClassOf :A ."
            ),
            Exists(role("d")),
            cls("A"),
        ),
        (
            (
                ":d a owl:DatatypeProperty . "
                "[ owl:onProperty :d ; owl:someValuesFrom rdfs:Literal ] rdfs:subClassOf :A ."
            ),
            Exists(role("d")),
            cls("A"),
        ),
        (
            (
                ":d a owl:DatatypeProperty . "
                ":A rdfs:subClassOf [ owl:onProperty :d ; owl:someValuesFrom xsd:integer ] ."
            ),
            cls("A"),
            Exists(role("d")),
        ),
        (
            ":A rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality 1 ] .",
            cls("A"),
            Exists(role("p")),
        ),
        (
            (
                ":A rdfs:subClassOf [ owl:onProperty :p ; owl:minQualifiedCardinality 1 ; "
                "owl:onClass :B ] . :p rdfs:range :A ."
            ),
            cls("A"),
            Exists(role("p")),
        ),
        (
            (
                "[ owl:onProperty :p ; owl:minQualifiedCardinality 1 ; owl:onClass owl:Thing ] "
                "rdfs:subClassOf :A ."
            ),
            Exists(role("p")),
            cls("A"),
        ),
        (":p rdfs:domain :A .", Exists(role("p")), cls("A")),
        (":p rdfs:range :A .", Exists(role("p").inverted()), cls("A")),
        (":p rdfs:subPropertyOf :q .", Exists(role("p")), Exists(role("q"))),
        (":p owl:inverseOf :q .", Exists(role("p").inverted()), Exists(role("q"))),
        (":p a owl:SymmetricProperty .", Exists(role("p").inverted()), Exists(role("p"))),
        (
            ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] .",
            cls("A"),
            Exists(role("p")),
        ),
        (
            INVERSE_DOMAIN,
            Exists(role("p").inverted()),
            cls("A"),
        ),
        (":A rdfs:subClassOf [ owl:intersectionOf ( :B :C ) ] .", cls("A"), cls("C")),
        ("[ owl:unionOf ( :A :B ) ] rdfs:subClassOf :C .", cls("B"), cls("C")),
        (":A rdfs:subClassOf :B . :B rdfs:subClassOf :A .", cls("B"), cls("A")),
        ("owl:Thing rdfs:subClassOf :A . :B a owl:Class .", cls("B"), cls("A")),
        (
            "[ owl:inverseOf :p ] rdfs:subPropertyOf :q .",
            Exists(role("p")),
            Exists(
                role(
                    "q",
                ).inverted()
            ),
        ),
    ],
)
def test_an_axiom_entails(tmp_path: Path, turtle: str, sub: Basic, sup: Basic) -> None:
    tbox, _ = load(tmp_path, turtle)
    assert sub in below(tbox, sup)


def test_a_qualified_existential_entails_the_plain_one_and_keeps_its_filler(tmp_path: Path) -> None:
    tbox, _ = load(
        tmp_path,
        ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .",
    )
    (axiom,) = tbox.axioms
    assert isinstance(axiom, SubExists)
    assert axiom.fillers == (cls("B"),)
    assert below(tbox, Exists(role("p"))) == {Exists(role("p")), cls("A")}
    assert axiom.because.text == "SubClassOf(:A ObjectSomeValuesFrom(:p :B))"


def test_a_justification_names_axioms_and_lines(tmp_path: Path) -> None:
    tbox, _ = load(tmp_path, ":A rdfs:subClassOf :B .\n\n:p\n  rdfs:domain :A .\n")
    why = dict(tbox.subconcepts(cls("B")))[Exists(role("p"))]
    assert [b.text for b in why] == ["PropertyDomain(:p :A)", "SubClassOf(:A :B)"]
    assert [b.source.line for b in why if b.source] == [8, 5]


def test_vocabulary_and_data_properties(tmp_path: Path) -> None:
    tbox, _ = load(
        tmp_path,
        ":v a owl:DatatypeProperty ; rdfs:range xsd:int ; rdfs:domain :A . :p a owl:ObjectProperty"
        " . :B a owl:Class .",
    )
    assert tbox.data_properties == {"http://e/v"}
    assert tbox.object_properties == {"http://e/p"}
    assert tbox.classes == {"http://e/A", "http://e/B"}
    assert tbox.knows("http://e/v")
    assert not tbox.knows("http://e/none")
    assert any(isinstance(a, DataRange) and a.datatype.endswith("#int") for a in tbox.axioms)
    assert Exists(role("v").inverted()) not in below(tbox, cls("A"))


def test_disjointness_is_closed_under_the_hierarchy(tmp_path: Path) -> None:
    tbox, _ = load(
        tmp_path,
        """:A owl:disjointWith :B . :A1 rdfs:subClassOf :A . :p rdfs:domain :B .
        :C rdfs:subClassOf [ owl:complementOf :D ] .
        [] a owl:AllDisjointClasses ; owl:members ( :E :F :G ) .
        :q rdfs:domain :A . :r a owl:AsymmetricProperty . :s owl:propertyDisjointWith :t .
        :X rdfs:subClassOf :A , :B . :Y rdfs:subClassOf owl:Nothing .
        :Z rdfs:subClassOf [ owl:onProperty :u ; owl:someValuesFrom :X ] .""",
    )
    assert tbox.are_disjoint(cls("A1"), Exists(role("p")))
    assert tbox.are_disjoint(cls("D"), cls("C"))
    assert tbox.are_disjoint(cls("E"), cls("G"))
    assert not tbox.are_disjoint(cls("A1"), cls("D"))
    assert tbox.are_disjoint(cls("X"), cls("D"))
    assert tbox.are_disjoint(cls("Y"), cls("Y"))
    assert tbox.are_disjoint(cls("Z"), cls("Z"))
    assert tbox.are_disjoint_roles(role("s"), role("t"))
    assert tbox.are_disjoint_roles(role("p"), role("q"))
    assert tbox.are_disjoint_roles(role("r"), role("r").inverted())
    assert not tbox.are_disjoint_roles(role("r"), role("s"))
    assert any(isinstance(a, DisjointRoles) for a in tbox.axioms)


RESTRICTION = ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; %s ] ."


@pytest.mark.parametrize(
    ("turtle", "named"),
    [
        (RESTRICTION % "owl:allValuesFrom :B", "AllValuesFrom"),
        (RESTRICTION % "owl:maxCardinality 1", "MaxCardinality"),
        (RESTRICTION % "owl:minCardinality 2", "MinCardinality"),
        (RESTRICTION % "owl:minQualifiedCardinality 2 ; owl:onClass :B", "MinCardinality"),
        (
            (
                "[ owl:onProperty :p ; owl:minQualifiedCardinality 1 ; owl:onClass :B ] "
                "rdfs:subClassOf :A ."
            ),
            "a filler on the left is owl:Thing",
        ),
        (RESTRICTION % "owl:hasValue :a", "HasValue"),
        (RESTRICTION % "owl:hasSelf true", "ObjectHasSelf"),
        (":A rdfs:subClassOf [ owl:unionOf ( :B :C ) ] .", "ObjectUnionOf"),
        (":A rdfs:subClassOf [ owl:oneOf ( :b :c ) ] .", "OneOf"),
        ("[ owl:intersectionOf ( :B :C ) ] rdfs:subClassOf :A .", "ObjectIntersectionOf"),
        (
            "[ owl:onProperty :p ; owl:someValuesFrom :B ] rdfs:subClassOf :A .",
            "a filler on the left is owl:Thing",
        ),
        (
            (
                ":d a owl:DatatypeProperty . "
                "[ owl:onProperty :d ; owl:someValuesFrom xsd:integer ] rdfs:subClassOf :A ."
            ),
            "DataPropertyRange(:d xsd:integer)",
        ),
        (
            ':d a owl:DatatypeProperty ; rdfs:range [ a rdfs:Datatype ; owl:oneOf ( "a" ) ] .',
            "a data range in OWL 2 QL is a datatype",
        ),
        ("[] a owl:NegativePropertyAssertion .", "NegativePropertyAssertion"),
        (":p a owl:ObjectProperty , owl:TransitiveProperty .", "TransitiveObjectProperty"),
        (":p a owl:ObjectProperty , owl:FunctionalProperty .", "FunctionalProperty"),
        (":p a owl:InverseFunctionalProperty .", "InverseFunctionalObjectProperty"),
        (":p owl:propertyChainAxiom ( :q :r ) .", "ObjectPropertyChain(:q :r)"),
        (":A owl:hasKey ( :p ) .", "HasKey"),
        (":a owl:sameAs :b .", "SameIndividual"),
    ],
)
def test_an_axiom_outside_the_profile_is_a_warning_or_strictly_an_error(
    tmp_path: Path, turtle: str, named: str
) -> None:
    tbox, warnings = load(tmp_path, turtle, strict=False)
    assert tbox.axioms == ()
    assert len(warnings) == 1
    assert named in warnings[0]
    assert warnings[0].startswith(f"{tmp_path / 'o.ttl'}:5: ")
    assert warnings[0].count("; ") >= 2
    with pytest.raises(OntologyError, match="is outside OWL 2 QL"):
        load(tmp_path, turtle)


def test_one_direction_of_an_equivalence_can_stay(tmp_path: Path) -> None:
    tbox, warnings = load(
        tmp_path, ":A owl:equivalentClass [ owl:intersectionOf ( :B :C ) ] .", strict=False
    )
    assert cls("A") in below(tbox, cls("C"))
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("o.ttl", PREFIXES + ":A rdfs:subClassOf :B .\n:C rdfs:subClassOf ; ;", "o.ttl:6: broken"),
        ("o.ttl", PREFIXES + ":A rdfs:subClassOf x:B .\n", "o.ttl:5: broken Turtle"),
        ("o.nt", "<http://e/a> <http://e/b> .\n", "o.nt:1: broken Turtle"),
        ("o.owl", "<?xml version='1.0'?>\n<rdf:RDF>\n<a></rdf:RDF>", "broken XML"),
        ("o.owl", "<?xml version='1.0'?>\n<a>\n<b></a>", "o.owl:3: broken XML; mismatched tag"),
        (
            "o.ofn",
            "Prefix(:=<http://e/>)\nOntology(\nSubClassOf(:A))",
            "o.ofn:3: broken ontology syntax",
        ),
        ("o.omn", "Prefix: : <http://e/>\nClass: A", "Manchester syntax"),
        ("o.obo", "format-version: 1.2\n", "OBO"),
        ("o.jsonld", '{"@context": {}}', "JSON-LD"),
    ],
)
def test_a_broken_or_foreign_file_is_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(OntologyError) as caught:
        load_ontology([tmp_path / name])
    assert message in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match="cannot read the ontology"):
        load_ontology([tmp_path / "none.ttl"])
    with pytest.raises(OntologyError, match="cannot read the ontology"):
        load_ontology([tmp_path])


def test_a_file_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_bytes(b"# fine\n# \xff\n")
    with pytest.raises(OntologyError, match="not UTF-8") as caught:
        load_ontology([tmp_path / "o.ttl"])
    assert caught.value.source is not None
    assert caught.value.source.line == 2


RDF_XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:owl="http://www.w3.org/2002/07/owl#" xml:base="http://e/"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<owl:Class rdf:about="A">
  <rdfs:subClassOf rdf:resource="B"/>
</owl:Class>
</rdf:RDF>
"""
OWL_XML = """<?xml version="1.0"?>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://e/" ontologyIRI="http://e/o">
<Declaration><Class IRI="http://e/A"/></Declaration>
<Declaration><Class IRI="http://e/B"/></Declaration>
<SubClassOf><Class IRI="http://e/A"/><Class IRI="http://e/B"/></SubClassOf>
</Ontology>
"""
N_TRIPLES = "\n<http://e/A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/B> .\n"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [("o.owl", RDF_XML, 6), ("o.owx", OWL_XML, 5), ("o.nt", N_TRIPLES, 2)],
)
def test_formats(tmp_path: Path, name: str, text: str, line: int) -> None:
    (tmp_path / name).write_text(text)
    tbox = load_ontology([tmp_path / name], strict=True)
    why = dict(tbox.subconcepts(cls("B")))[cls("A")]
    assert [b.text for b in why] == ["SubClassOf(:A :B)"]
    assert why[0].source is not None
    assert why[0].source.line == line


def test_several_files_are_one_ontology(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(PREFIXES + ":v a owl:DatatypeProperty .")
    (tmp_path / "b.ttl").write_text(PREFIXES + ":v rdfs:domain :A .")
    tbox = load_ontology([tmp_path / "b.ttl", tmp_path / "a.ttl"])
    assert tbox.data_properties == {"http://e/v"}
    assert tbox.files == (str(tmp_path / "b.ttl"), str(tmp_path / "a.ttl"))
