"""Broken ontologies in five syntaxes: a located error or success, soon, and never a network."""

import random
import re
import socket
from pathlib import Path

import pytest

from ontoweir.errors import OntologyError
from ontoweir.ontology.load_ontology import load_ontology

TURTLE = """@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<http://e/o> a owl:Ontology ; owl:imports <http://example.com/other> .
:A a owl:Class ; rdfs:subClassOf :B , [ owl:onProperty :p ; owl:someValuesFrom :C ] .
:p a owl:ObjectProperty , owl:SymmetricProperty ; rdfs:domain :A ; owl:inverseOf :q .
:v a owl:DatatypeProperty ; rdfs:range xsd:int .
[] a owl:AllDisjointClasses ; owl:members ( :A :D :E ) .
:q owl:propertyChainAxiom ( :p :p ) .
:B owl:equivalentClass [ owl:unionOf ( :F [ owl:complementOf :G ] ) ] .
:a a :A ; :p :b ; :v 5 , "x"@en , "2024-01-01"^^xsd:date .
"""
FUNCTIONAL = """Prefix(:=<http://e/>)
Prefix(xsd:=<http://www.w3.org/2001/XMLSchema#>)
Ontology(<http://e/o> <http://e/o/1>
Import(<http://example.com/other>)
Declaration(Class(:A)) Declaration(DataProperty(:v))
SubClassOf(Annotation(:note "why") :A ObjectSomeValuesFrom(ObjectInverseOf(:p) :B))
EquivalentClasses(:B ObjectIntersectionOf(:C :D ObjectComplementOf(:E)))
SubObjectPropertyOf(ObjectPropertyChain(:p :q) :r)
ObjectPropertyDomain(:p :A) # a comment
DisjointClasses(:A :F :G)
HasKey(:A (:p) (:v))
ObjectPropertyAssertion(:p :a _:b)
DataPropertyAssertion(:v :a "5"^^xsd:integer)
SubClassOf(:A ObjectMinCardinality(2 :p :B))
)
"""
OWL_XML = """<?xml version="1.0"?>
<!DOCTYPE Ontology [ <!ENTITY e "http://e/"> ]>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://e/" ontologyIRI="http://e/o">
<Prefix name="" IRI="http://e/"/>
<Import>http://example.com/other</Import>
<Declaration><Class IRI="#A"/></Declaration>
<SubClassOf><Class IRI="&e;A"/><ObjectSomeValuesFrom><ObjectProperty abbreviatedIRI=":p"/>
<Class IRI="#B"/></ObjectSomeValuesFrom></SubClassOf>
<DisjointClasses><Class IRI="#A"/><Class IRI="#C"/></DisjointClasses>
<SubClassOf><Class IRI="#A"/><ObjectMaxCardinality cardinality="1"><ObjectProperty IRI="#p"/>
</ObjectMaxCardinality></SubClassOf>
<ClassAssertion><Class IRI="#A"/><NamedIndividual IRI="#a"/></ClassAssertion>
<DataPropertyAssertion><DataProperty IRI="#v"/><NamedIndividual IRI="#a"/>
<Literal xml:lang="en">x</Literal></DataPropertyAssertion>
</Ontology>
"""
RDF_XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY owl "http://www.w3.org/2002/07/owl#"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xml:base="http://e/"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="&owl;" xmlns="http://e/">
<owl:Ontology rdf:about="http://e/o"><owl:imports rdf:resource="http://example.com/other"/>
</owl:Ontology>
<owl:Class rdf:about="#A"><rdfs:subClassOf rdf:resource="#B"/>
<rdfs:subClassOf><owl:Restriction><owl:onProperty rdf:resource="#p"/>
<owl:someValuesFrom rdf:resource="&owl;Thing"/></owl:Restriction></rdfs:subClassOf></owl:Class>
<owl:ObjectProperty rdf:ID="p"><rdfs:domain rdf:resource="#A"/></owl:ObjectProperty>
<owl:Class rdf:about="#C"><owl:equivalentClass><owl:Class><owl:unionOf rdf:parseType="Collection">
<owl:Class rdf:about="#A"/><owl:Class rdf:about="#D"/></owl:unionOf></owl:Class>
</owl:equivalentClass></owl:Class>
<A rdf:about="#a"><p rdf:resource="#b"/></A>
</rdf:RDF>
"""
N_TRIPLES = "".join(
    f"<http://e/{s}> <http://www.w3.org/{p}> <{o}> .\n"
    for s, p, o in [
        ("o", "2002/07/owl#imports", "http://example.com/other"),
        ("A", "2000/01/rdf-schema#subClassOf", "http://e/B"),
        ("p", "1999/02/22-rdf-syntax-ns#type", "http://www.w3.org/2002/07/owl#ObjectProperty"),
        ("p", "2000/01/rdf-schema#domain", "http://e/A"),
        ("a", "1999/02/22-rdf-syntax-ns#type", "http://e/A"),
        ("A", "2002/07/owl#disjointWith", "http://e/C"),
    ]
)
SEEDS = {
    "o.ttl": TURTLE,
    "o.ofn": FUNCTIONAL,
    "o.owx": OWL_XML,
    "o.owl": RDF_XML,
    "o.nt": N_TRIPLES + '<http://e/a> <http://e/v> "x"@en .\n',
}
COUNT = 60
_TOKEN = re.compile(r'"[^"\n]*"|<[^<>\n]*>|[\w:.#&;-]+|\s+|.', re.DOTALL)
_WORDS = [
    *("", " ", ".", ";", ",", "[", "]", "(", ")", '"', '"""', "<", ">", "/>", "</", "<!--", "&"),
    *("@prefix", "@base", "a", "_:b", "<>", "<http://[>", "<file:///etc/passwd>", "^^", "@en", "="),
    *("owl:imports", "owl:unionOf", "rdf:nil", "rdf:first", "xsd:int", "true", "-1", "1e999", "{}"),
    *(
        "<!ENTITY x SYSTEM 'http://example.com/x'>",
        "&x;",
        "<![CDATA[",
        "]]>",
        "<?x?>",
        "xmlns:a=''",
    ),
    *(
        "rdf:parseType='Literal'",
        "rdf:ID='p'",
        "rdf:nodeID='1x'",
        "xml:lang='!'",
        "cardinality='x'",
    ),
    *("Ontology(", "Class", "ObjectInverseOf(", "ObjectOneOf(", "DLSafeRule(", "HasKey(", "\\u12"),
    *("\x00", "\ud7ff", "é", "9" * 5000, "((((", "[[[[", "IRI=''", "xml:base='http://['", "\\x"),
]


def mutate(text: str, seed: int) -> bytes:
    """The text with one to four mutations; every 16th seed has bytes that are not UTF-8."""
    draw = random.Random(seed)
    tokens = _TOKEN.findall(text)
    assert "".join(tokens) == text
    for _ in range(draw.choice((1, 1, 2, 3, 4))):
        tokens = tokens or [" "]
        place, other = draw.randrange(len(tokens)), draw.randrange(len(tokens))
        match draw.randrange(7):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[other])
            case 2:
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case 3:
                tokens[place] = draw.choice(_WORDS)
            case 4:
                tokens.insert(place, draw.choice(_WORDS))
            case 5:
                del tokens[max(place, 1) :]
            case _:
                tokens[place] = tokens[other]
    data = "".join(tokens).encode("utf-8", errors="replace")
    if seed % 16 == 0:
        place = draw.randrange(len(data) + 1)
        data = data[:place] + draw.choice((b"\xff", b"\xc3(", b"\xed\xa0\x80")) + data[place:]
    return data


def check(name: str, data: bytes, folder: Path) -> bool:
    """Whether the file loads; if not, the error is located in it."""
    file = folder / name
    file.write_bytes(data)
    try:
        load_ontology([file], warn=lambda _: None)
    except OntologyError as error:
        broken = error
    else:
        return True
    assert broken.source is not None
    assert broken.source.file == str(file)
    assert broken.source.line is not None, broken
    assert 1 <= broken.source.line <= data.count(b"\n") + 1, broken
    assert "\n" not in str(broken)
    return False


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a network access")

    monkeypatch.setattr(socket, "socket", refuse)


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_are_read(name: str, tmp_path: Path) -> None:
    assert check(name, SEEDS[name].encode(), tmp_path)


@pytest.mark.parametrize("name", SEEDS)
def test_a_broken_file_gives_a_located_error_or_loads(name: str, tmp_path: Path) -> None:
    outcomes = [check(name, mutate(SEEDS[name], seed), tmp_path) for seed in range(COUNT)]
    assert any(outcomes)
    assert not all(outcomes)


@pytest.mark.parametrize("name", SEEDS)
def test_the_mutants_are_many(name: str) -> None:
    assert len({mutate(SEEDS[name], seed) for seed in range(COUNT)}) > 0.9 * COUNT


DEEP = 3_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "o.ofn",
            "Ontology(SubClassOf(<http://e/A> "
            + "ObjectComplementOf(" * DEEP
            + "<http://e/B>"
            + ")" * DEEP
            + "))",
        ),
        (
            "o.owx",
            '<?xml version="1.0"?><Ontology xmlns="http://www.w3.org/2002/07/owl#"><SubClassOf>'
            '<Class IRI="http://e/A"/>'
            + "<ObjectComplementOf>" * DEEP
            + '<Class IRI="http://e/B"/>'
            + "</ObjectComplementOf>" * DEEP
            + "</SubClassOf></Ontology>",
        ),
        (
            "o.ttl",
            TURTLE
            + ":A rdfs:subClassOf "
            + "[ owl:complementOf " * DEEP
            + ":B"
            + " ]" * DEEP
            + " .",
        ),
        (
            "o.ttl",
            TURTLE
            + ":A rdfs:subClassOf "
            + "[ owl:intersectionOf ( :C " * 400
            + ":B"
            + ") ]" * 400
            + " .",
        ),
        ("o.ttl", TURTLE + ":A rdfs:subClassOf _:x . _:x owl:intersectionOf ( _:x :B ) ."),
        ("o.ttl", TURTLE + "_:x owl:unionOf ( _:x :B ) . _:x rdfs:subClassOf :A ."),
        ("o.ttl", TURTLE + "_:x owl:inverseOf _:y . _:y owl:inverseOf _:x . _:x rdfs:domain :A ."),
        (
            "o.owl",
            '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY b0 "ha ha ha ha ha ha">'
            + "".join(f'<!ENTITY b{n + 1} "{f"&b{n};" * 10}">' for n in range(9))
            + ']><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&b9;</rdf:RDF>',
        ),
    ],
    ids=["functional", "xml", "turtle", "lists", "cycle", "union", "inverses", "entities"],
)
def test_what_is_deep_or_cyclic_ends(name: str, text: str, tmp_path: Path) -> None:
    check(name, text.encode(), tmp_path)
