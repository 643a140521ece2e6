"""owlready2: its ontologies in memory are read by their triples, and agree with our readers."""

import io
from pathlib import Path
from typing import Any

import owlready2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from owlready2 import owlxml_2_ntriples, rdfxml_2_ntriples
from rdflib import BNode, Graph, Literal, URIRef
from rdflib.compare import isomorphic

from ontoweir.ontology.load_ontology import load_ontology, read_ontology
from ontoweir.ontology.syntax.read_triples import read_triples
from ontoweir.ontology.tbox import Exists, NamedClass, Role, TBox

HEAD = (
    "Prefix(:=<http://e/>)\nPrefix(owl:=<http://www.w3.org/2002/07/owl#>)\n"
    "Prefix(xsd:=<http://www.w3.org/2001/XMLSchema#>)\nOntology(<http://e/o>\n"
    "Declaration(ObjectProperty(:P)) Declaration(ObjectProperty(:Q)) Declaration(DataProperty(:d))"
)
THING = '<Class IRI="http://www.w3.org/2002/07/owl#Thing"/>'
ROLES = ("P", "Q", "-P", "-Q")


def functional_role(role: str) -> str:
    return f"ObjectInverseOf(:{role[1:]})" if role.startswith("-") else f":{role}"


def xml_role(role: str) -> str:
    named = f'<ObjectProperty IRI="http://e/{role.lstrip("-")}"/>'
    return f"<ObjectInverseOf>{named}</ObjectInverseOf>" if role.startswith("-") else named


roles = st.sampled_from(ROLES)
classes = st.sampled_from(("A", "B", "C")).map(
    lambda c: (f":{c}", f'<Class IRI="http://e/{c}"/>'),
)
somes = st.tuples(roles, classes).map(
    lambda p: (
        f"ObjectSomeValuesFrom({functional_role(p[0])} {p[1][0]})",
        f"<ObjectSomeValuesFrom>{xml_role(p[0])}{p[1][1]}</ObjectSomeValuesFrom>",
    )
)
lefts = st.one_of(
    classes,
    roles.map(
        lambda r: (
            f"ObjectSomeValuesFrom({functional_role(r)} owl:Thing)",
            f"<ObjectSomeValuesFrom>{xml_role(r)}{THING}</ObjectSomeValuesFrom>",
        )
    ),
)
rights = st.one_of(
    classes,
    somes,
    classes.map(
        lambda c: (
            f"ObjectComplementOf({c[0]})",
            f"<ObjectComplementOf>{c[1]}</ObjectComplementOf>",
        )
    ),
    st.tuples(classes, somes).map(
        lambda p: (
            f"ObjectIntersectionOf({p[0][0]} {p[1][0]})",
            f"<ObjectIntersectionOf>{p[0][1]}{p[1][1]}</ObjectIntersectionOf>",
        )
    ),
)
pairs = roles.map(lambda r: (functional_role(r), xml_role(r)))


def call(name: str, *parts: tuple[str, str]) -> tuple[str, str]:
    inner, elements = " ".join(p[0] for p in parts), "".join(p[1] for p in parts)
    return f"{name}({inner})", f"<{name}>{elements}</{name}>"


axioms = st.one_of(
    st.builds(call, st.just("SubClassOf"), lefts, rights),
    st.builds(call, st.just("EquivalentClasses"), lefts, lefts),
    st.builds(call, st.just("DisjointClasses"), lefts, classes),
    st.builds(call, st.just("DisjointClasses"), classes, lefts, classes),
    st.builds(call, st.just("SubObjectPropertyOf"), pairs, pairs),
    st.builds(call, st.just("InverseObjectProperties"), pairs, pairs),
    st.builds(call, st.just("ObjectPropertyDomain"), pairs, rights),
    st.builds(call, st.just("ObjectPropertyRange"), pairs, rights),
    st.builds(call, st.just("SymmetricObjectProperty"), pairs),
    st.builds(call, st.just("AsymmetricObjectProperty"), pairs),
    st.builds(call, st.just("IrreflexiveObjectProperty"), pairs),
    st.builds(call, st.just("ReflexiveObjectProperty"), pairs),
)
ontologies = st.lists(axioms, max_size=6, unique=True)
XML_HEAD = (
    '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#" '
    'ontologyIRI="http://e/o"><Prefix name="" IRI="http://e/"/>\n'
    '<Declaration><ObjectProperty IRI="http://e/P"/></Declaration>'
    '<Declaration><ObjectProperty IRI="http://e/Q"/></Declaration>'
    '<Declaration><DataProperty IRI="http://e/d"/></Declaration>\n'
)


def parsed_by_owlready(parse: Any, data: bytes) -> Graph:
    """The triples of owlready2's own parser; it opens nothing, imports included."""
    graph = Graph()

    def node(text: object) -> Any:
        name = str(text)
        return BNode(name.removeprefix("_:")) if name.startswith("_") else URIRef(name)

    def with_object(s: object, p: str, o: object) -> None:
        graph.add((node(s), URIRef(p), node(o)))

    def with_value(s: object, p: str, o: object, d: str) -> None:
        graph.add((node(s), URIRef(p), Literal(str(o), datatype=URIRef(d) if d else None)))

    count = iter(range(10**6))
    parse(io.BytesIO(data), with_object, with_value, lambda: f"_:n{next(count)}")
    return graph


def our_graph(path: Path) -> Graph:
    graph = Graph()
    for s, p, o, _ in read_triples(path).rows:
        graph.add((s, p, o))
    return graph


def meaning(tbox: TBox) -> tuple[object, ...]:
    facts = {repr(a).split(", because=")[0] for a in tbox.axioms}
    return facts, tbox.classes, tbox.object_properties, tbox.data_properties


def in_memory(path: Path) -> Any:
    """The ontology of a file, as a program would load it; `path` has no imports."""
    world = owlready2.World()
    with path.open("rb") as file:
        return world.get_ontology("http://e/o").load(fileobj=file, only_local=True)


def load(*sources: Any) -> TBox:
    return load_ontology(sources, warn=lambda _: None)


@settings(max_examples=60, deadline=None)
@given(ontologies)
def test_files_and_memory_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("o")
    functional, xml, rdf = folder / "o.ofn", folder / "o.owx", folder / "o.owl"
    functional.write_text(HEAD + "\n".join(a for a, _ in made) + ")")
    xml.write_text(XML_HEAD + "\n".join(a for _, a in made) + "</Ontology>")
    our_graph(functional).serialize(str(rdf), format="xml")
    from_xml = our_graph(xml)
    assert isomorphic(from_xml, our_graph(functional))
    rdf_bytes = rdf.read_bytes()
    assert isomorphic(our_graph(rdf), parsed_by_owlready(rdfxml_2_ntriples.parse, rdf_bytes))
    tbox = load(functional)
    assert meaning(load(xml)) == meaning(tbox)
    assert meaning(load(rdf)) == meaning(tbox)
    assert meaning(load(in_memory(rdf))) == meaning(tbox)
    assert meaning(load(in_memory(xml))) == meaning(tbox)
    assert meaning(load(in_memory(xml).world)) == meaning(tbox)


def test_cycles_inverses_facts_and_imports_of_memory(tmp_path: Path) -> None:
    """What owlready2's objects would drop, its triples have."""
    world = owlready2.World()
    ontology: Any = world.get_ontology("http://e/o#")
    units: Any = world.get_ontology("http://e/units#")
    with ontology:
        a: Any = type("A", (owlready2.Thing,), {})
        b: Any = type("B", (a,), {})
        p: Any = type("p", (owlready2.ObjectProperty,), {})
        d: Any = type("d", (owlready2.DataProperty,), {})
        owlready2.GeneralClassAxiom(owlready2.Inverse(p).some(owlready2.Thing)).is_a.append(b)
        one = b("one")
        one.p, one.d = [one], [5]
        one.label = [owlready2.locstr("eins", "de")]
    ontology._add_obj_triple_raw_spo(a.storid, owlready2.rdfs_subclassof, b.storid)  # A ⊑ B ⊑ A
    with units:
        type("Unit", (a,), {})
    assert d.iri == "http://e/o#d"
    units.imported_ontologies.append(ontology)

    def name(local: str) -> NamedClass:
        return NamedClass(f"http://e/o#{local}")

    tbox = load_ontology([units], strict=True)
    below = {basic for basic, _ in tbox.subconcepts(name("A"))}
    made_by_p = Exists(Role("http://e/o#p", inverse=True))
    assert {name("B"), NamedClass("http://e/units#Unit"), made_by_p} <= below
    assert name("A") in {basic for basic, _ in tbox.subconcepts(name("B"))}
    assert {f.because.text for f in tbox.facts} == {
        "ClassAssertion(:B :one)",
        "ObjectPropertyAssertion(:p :one :one)",
        'DataPropertyAssertion(:d :one "5")',
    }
    assert tbox.files == ("http://e/units", "http://e/o")
    assert load_ontology([ontology], strict=True).files == ("http://e/o",)


def test_an_import_that_memory_lacks_is_a_file_or_a_warning(tmp_path: Path) -> None:
    (tmp_path / "u.ttl").write_text(
        "<http://e/Unit> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/A> ."
    )
    world = owlready2.World()
    ontology: Any = world.get_ontology("http://e/o#")
    missing: Any = world.get_ontology("http://e/u#")
    ontology.imported_ontologies.append(missing)
    del world.ontologies["http://e/u#"]
    reading = read_ontology([ontology], imports={"http://e/u": tmp_path / "u.ttl"}, strict=True)
    assert reading.tbox.knows("http://e/Unit")
    warnings: list[str] = []
    load_ontology([ontology], warn=warnings.append)
    assert [w for w in warnings if "no file for the import http://e/u" in w] == warnings
    assert warnings


def test_why_owl_xml_is_not_read_by_owlready2() -> None:
    """Its parser drops all but two of several equivalent classes, and knows no nodeID."""
    xml = XML_HEAD + (
        '<EquivalentClasses><Class IRI="http://e/A"/><Class IRI="http://e/B"/>'
        '<Class IRI="http://e/C"/></EquivalentClasses></Ontology>'
    )
    graph = parsed_by_owlready(owlxml_2_ntriples.parse, xml.encode())
    equivalent = URIRef("http://www.w3.org/2002/07/owl#equivalentClass")
    assert len(list(graph.triples((None, equivalent, None)))) == 1
