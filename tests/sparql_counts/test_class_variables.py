"""Variables in the place of classes, against rdflib over the materialised graphs, one of each time,
with the types that the ontology entails."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import settings
from rdflib import RDF, Dataset, Graph, Literal, URIRef

import ontoweir
from ontoweir.errors import OntoweirError, QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.query import ClassAtom

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
[streams.reading]
source = { format = "csv", path = "reading.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 5
keys = [["id"]]
[streams.reading.columns]
id = "int"
sensor = { type = "int", min = 1, max = 3 }
v = { type = "int", min = 1, max = 3 }
[relations.place]
source = { format = "csv", path = "place.csv", options = { header = "true" } }
keys = [["sensor"]]
columns = { sensor = "int", town = "string" }
"""
ONTOLOGY = """
@prefix : <http://x/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:o a owl:Ontology . :High a owl:Class ; rdfs:subClassOf :R . :R a owl:Class .
:Thermometer a owl:Class ; rdfs:subClassOf :Sensor . :Sensor a owl:Class . :Empty a owl:Class .
:by a owl:ObjectProperty ; rdfs:range :Sensor ; rdfs:domain :R . :v a owl:DatatypeProperty .
:in a owl:DatatypeProperty .
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://x/> .
<#r> rr:logicalTable [ rr:tableName "reading" ] ;
  rr:subjectMap [ rr:template "http://x/r/{id}" ; rr:class :R ] ;
  rr:predicateObjectMap [ rr:predicate :by ; rr:objectMap [ rr:template "http://x/s/{sensor}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "v" ] ] .
<#h> rr:logicalTable [ rr:sqlQuery "SELECT id, ts FROM reading WHERE v >= 2" ] ;
  rr:subjectMap [ rr:template "http://x/r/{id}" ; rr:class :High ] .
<#d> rr:logicalTable [ rr:sqlQuery "SELECT sensor, ts FROM reading WHERE v = 3" ] ;
  rr:subjectMap [ rr:template "http://x/s/{sensor}" ; rr:class :Hot ] .
<#p> rr:logicalTable [ rr:tableName "place" ] ;
  rr:subjectMap [ rr:template "http://x/s/{sensor}" ; rr:class :Thermometer ] ;
  rr:predicateObjectMap [ rr:predicate :in ; rr:objectMap [ rr:column "town" ] ] .
"""
Row: TypeAlias = tuple[int, int, int, int]
SEEDS = max(1, settings().max_examples // 60)
QUERIES = (
    "SELECT ?x ?c ?v { GRAPH ?t { ?x a ?c ; :v ?v } }",
    "SELECT ?x ?c { GRAPH ?t { ?x a ?c . ?x :by ?s FILTER(?c != :R) } }",
    "SELECT DISTINCT ?c { GRAPH ?t { ?x :by ?s . ?s a ?c } }",
    "SELECT ?s ?c { GRAPH ?t { ?x :by ?s . ?s a ?c FILTER(?c IN (:Hot, :Sensor)) } }",
    "SELECT ?x ?c ?d { GRAPH ?t { ?x a ?c , ?d ; :v 3 } }",
    "SELECT ?c (COUNT(*) AS ?n) { GRAPH ?t { ?x a ?c ; :v ?v } } GROUP BY ?c",
    "SELECT ?x ?y { GRAPH ?t { ?x a ?c ; :by ?s } GRAPH ?u { ?y a ?c ; :by ?s } FILTER(LATER) }",
    "SELECT ?x ?d { GRAPH ?t { ?x :by ?s } ?s :in 'A' ; a ?d FILTER(?d = :Thermometer) }",
    "SELECT ?x { GRAPH ?t { ?x :by ?s ; a ?c FILTER(?c = :Nothing) } }",
    "SELECT ?x ?c { GRAPH ?t { ?x :by ?s ; rdf:type ?c } }",
    "SELECT ?x ?c { { GRAPH ?t { ?x a ?c ; :v 1 } } UNION { GRAPH ?t { ?x a ?c ; :v 2 } } }",
)
PREFIX = (
    "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\nPREFIX : <http://x/>\n"
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
)
LATER = '?u > ?t && ?u - ?t <= "PT3M"^^xsd:dayTimeDuration'
NUMBERS = [f'xsd:integer(STRAFTER(STR(?{v}), "t/"))' for v in "ut"]


def _x(name: str) -> URIRef:
    return URIRef(f"http://x/{name}")


def _fill(graph: Graph, row: Row) -> None:
    _, number, sensor, value = row
    reading, by = _x(f"r/{number}"), _x(f"s/{sensor}")
    graph.add((reading, RDF.type, _x("R")))
    graph.add((reading, _x("by"), by))
    graph.add((reading, _x("v"), Literal(value)))
    graph.add((by, RDF.type, _x("Sensor")))
    if value >= 2:
        graph.add((reading, RDF.type, _x("High")))
    if value == 3:
        graph.add((by, RDF.type, _x("Hot")))


def _fill_static(graph: Graph) -> None:
    for number, town in ((1, "A"), (2, "B")):
        graph.add((_x(f"s/{number}"), RDF.type, _x("Thermometer")))
        graph.add((_x(f"s/{number}"), RDF.type, _x("Sensor")))
        graph.add((_x(f"s/{number}"), _x("in"), Literal(town)))


def _write(folder: Path, rows: list[Row]) -> None:
    folder.mkdir()
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "o.ttl").write_text(ONTOLOGY)
    (folder / "m.ttl").write_text(MAPPING)
    lines = [f"{FIRST + timedelta(minutes=m):%Y-%m-%dT%H:%M:%S},{i},{s},{v}" for m, i, s, v in rows]
    (folder / "reading.csv").write_text("\n".join(["ts,id,sensor,v", *lines, ""]))
    (folder / "place.csv").write_text("sensor,town\n1,A\n2,B\n")


def _wanted(text: str, rows: list[Row]) -> Counter[tuple[str, ...]]:
    data = Dataset()
    _fill_static(data.default_graph)
    for row in rows:
        graph = data.graph(URIRef(f"http://x/t/{row[0]}"))
        _fill_static(graph)
        _fill(graph, row)
    later = f"{NUMBERS[0]} > {NUMBERS[1]} && {NUMBERS[0]} - {NUMBERS[1]} <= 3"
    found = data.query(PREFIX + text.replace("LATER", later))
    return Counter(tuple(str(cell) for cell in row) for row in found)  # type: ignore[union-attr]


def _found(text: str, folder: Path) -> Counter[tuple[str, ...]]:
    project = ontoweir.open_project(folder)
    table = project.replay(PREFIX + text.replace("LATER", LATER)).to_arrow()
    shown = [n for n in table.column_names if n not in ("at", "multiplicity")]
    made: Counter[tuple[str, ...]] = Counter()
    for row in table.to_pylist():
        answer = tuple(str(row[n]) for n in shown)
        if "GROUP BY" in text:  # the last of each group
            made = Counter({k: n for k, n in made.items() if k[:-1] != answer[:-1]})
        made[answer] += row.get("multiplicity", 1)
    return made


@pytest.mark.filterwarnings("ignore:query is not known to be bounded")
@pytest.mark.parametrize("text", QUERIES)
def test_a_class_is_any_that_is_entailed(text: str, tmp_path: Path) -> None:
    for seed in range(1, SEEDS + 1):
        draw = random.Random(seed)
        minutes = sorted(draw.choices(range(12), k=10))
        rows = [(m, n, draw.randint(1, 3), draw.randint(1, 3)) for n, m in enumerate(minutes)]
        folder = tmp_path / str(seed)
        _write(folder, rows)
        wanted = _wanted(text, rows)
        assert _found(text, folder) == wanted
        assert wanted or ":Nothing" in text


def test_places_are_those_of_the_text(tmp_path: Path) -> None:
    _write(tmp_path / "p", [(0, 1, 1, 1)])
    project = ontoweir.open_project(tmp_path / "p")
    text = f"{PREFIX}SELECT DISTINCT ?c {{ GRAPH ?t {{ ?x a ?c }} GRAPH ?u {{ ?x :gone ?v }} }}"
    with pytest.raises(QueryError, match="unknown property http://x/gone") as error:
        project.check(text)
    assert error.value.source is not None
    assert error.value.source.line == 4
    assert error.value.source.column == text.splitlines()[3].index("?x :gone") + 1


def test_each_class_is_a_branch(tmp_path: Path) -> None:
    _write(tmp_path / "p", [(0, 1, 1, 1)])
    (tmp_path / "p" / "q.rq").write_text(f"{PREFIX}SELECT DISTINCT ?c {{ GRAPH ?t {{ ?x a ?c }} }}")
    toml = TOML.replace("[streams", 'queries = ["q.rq"]\n[streams', 1)
    (tmp_path / "p" / "ontoweir.toml").write_text(toml)
    branches = Workspace(load_project(tmp_path / "p", environ={})).parse("q")
    asked = {atom.cls for b in branches for atom in b.atoms if isinstance(atom, ClassAtom)}
    assert asked == {f"http://x/{c}" for c in ("R", "High", "Hot", "Sensor", "Thermometer")}


@pytest.mark.filterwarnings("ignore::ontoweir.errors.OntoweirWarning")
def test_a_triples_map_that_is_refused_may_make_any_class(tmp_path: Path) -> None:
    _write(tmp_path / "p", [(0, 1, 1, 1)])
    wrong = '<#w> rr:logicalTable [ rr:tableName "gone" ] ; rr:subjectMap [ rr:template '
    wrong += '"http://x/{k}" ; rr:class :Lost ] .'
    (tmp_path / "p" / "m.ttl").write_text(MAPPING + wrong)
    with pytest.raises(OntoweirError, match="gone"):
        ontoweir.open_project(tmp_path / "p").check(
            f"{PREFIX}SELECT DISTINCT ?c {{ GRAPH ?t {{ ?x a ?c }} }}"
        )
