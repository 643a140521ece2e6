"""Which nodes have their time in their names, by the mappings, the catalog and the ontology."""

from pathlib import Path

import pytest

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.dated.find_dated import find_dated

PROJECT = """[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
[streams.s]
source = { format = "csv", path = "s.csv" }
timestamp = { column = "ts", unit = "1 minute" }
keys = [["id"]]
columns = { id = "int", k = "string", "of" = "string", due = "timestamp" }
[streams.u]
source = { format = "csv", path = "u.csv" }
timestamp = { column = "at", unit = "1 second" }
columns = { id = "int", k = "string" }
[relations.r]
source = { format = "csv", path = "r.csv" }
columns = { id = "int", k = "string", due = "timestamp" }
"""
ONTOLOGY = """@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:A a owl:Class . :B a owl:Class . :v a owl:DatatypeProperty . :at a owl:DatatypeProperty .
:P a owl:ObjectProperty .
"""
MAPS = """@prefix : <http://e/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def write_map(table: str, template: str, *more: str) -> str:
    said = " ; ".join((f'rr:template "http://e/{template}"', *more[:1]))
    objects = "".join(
        f" ; rr:predicateObjectMap [ rr:predicate {p} ; rr:objectMap [ {o} ] ]"
        for p, o in (m.split(" ", 1) for m in more[1:])
    )
    return f'[] rr:logicalTable [ rr:tableName "{table}" ] ; rr:subjectMap [ {said} ]{objects} .\n'


A, AT, V = "rr:class :A", ':at rr:column "ts"', ':v rr:column "k"'


def read(folder: Path, query: str, *maps: str, axioms: str = "") -> tuple[str | None, object]:
    """The text with GRAPHs, and the keys that it rests on."""
    (folder / "ontoweir.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "o.ttl").write_text(ONTOLOGY + axioms, encoding="utf-8")
    (folder / "m.ttl").write_text(MAPS + "".join(maps), encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    made = find_dated(f"PREFIX : <http://e/>\n{query}", workspace.mappings, workspace.tmappings)
    return (None, ()) if made is None else (made.text.split("\n")[1], made.rests)


QUERY = "SELECT ?v { ?o a :A ; :v ?v }"
DATED = "SELECT ?v { GRAPH ?o_time { ?o a :A ; :v ?v } }"


@pytest.mark.parametrize(
    "maps",
    [
        pytest.param((write_map("s", "o/{k}/{ts}", A, V),), id="after a slash"),
        pytest.param((write_map("s", "o/{ts}/{k}", A, V),), id="before a slash"),
        pytest.param((write_map("s", "o-{k}-{ts}.x", A, V),), id="at the end"),
        pytest.param(
            (write_map("s", "o/{k}/{ts}", A, V), write_map("u", "o/{k}/{at}", "rr:class :B", V)),
            id="of another stream",
        ),
        pytest.param(
            (write_map("s", "o/{k}/{ts}", A), write_map("r", "r/{k}", "rr:class :B", V)),
            id="beside other nodes",
        ),
    ],
)
def test_the_time_is_in_the_name(maps: tuple[str, ...], tmp_path: Path) -> None:
    assert read(tmp_path, QUERY, *maps) == (DATED, ())


def test_a_row_has_one_time(tmp_path: Path) -> None:
    made = read(tmp_path, QUERY, write_map("s", "o/{id}", A, V))
    assert made == (DATED, (("s", ("id",)),))


@pytest.mark.parametrize(
    ("maps", "axioms"),
    [
        pytest.param((write_map("s", "o/{k}", A, V),), "", id="no key"),
        pytest.param((write_map("s", "o/{k}/{due}", A, V),), "", id="another time"),
        pytest.param((write_map("s", "o/{ts}-{k}", A, V),), "", id="told apart by nothing"),
        pytest.param(
            (write_map("s", "o/{id}", A, V), write_map("u", "o/{id}", "rr:class :B", V)),
            "",
            id="a row of another stream",
        ),
        pytest.param(
            (write_map("s", "o/{k}/{ts}", A, V), write_map("u", "o/{k}/{id}", "rr:class :B", V)),
            "",
            id="another name that may be equal",
        ),
        pytest.param(
            (write_map("s", "o/{k}/{ts}", A, V), write_map("r", "o/{k}/{due}", "rr:class :B")),
            "",
            id="what always holds",
        ),
        pytest.param(
            (
                write_map("s", "o/{k}/{ts}", A, V),
                write_map("r", "r/{k}", "rr:class :B", ':P rr:template "http://e/o/{k}/{due}"'),
            ),
            "",
            id="an object of what always holds",
        ),
        pytest.param((write_map("s", "o/{k}/{ts}", A, V),), "<http://e/o/x/y> a :B .", id="a fact"),
        pytest.param(
            (write_map("s", "o/{k}/{ts}", A, V), write_map("r", "r/{k}", "rr:class :B", V)),
            ":B rdfs:subClassOf :A .",
            id="other members",
        ),
    ],
)
def test_twins_that_have_more_times(maps: tuple[str, ...], axioms: str, tmp_path: Path) -> None:
    assert read(tmp_path, QUERY, *maps, axioms=axioms) == (None, ())


def test_a_triple_that_only_the_ontology_has_says_nothing_of_names(tmp_path: Path) -> None:
    query = "SELECT DISTINCT ?o { ?o :P ?y }"
    dated = write_map("s", "o/{k}/{ts}", A, ':P rr:template "http://e/y/{k}"')
    assert read(tmp_path, query, dated)[0] is not None
    members = write_map("r", "r/{k}", "rr:class :B")
    implied = ":B rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :P ; "
    implied += "owl:someValuesFrom owl:Thing ] ."
    assert read(tmp_path, query, dated, members, axioms=implied) == (None, ())


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (AT, True),
        (f"{AT} ; rr:datatype xsd:dateTime", True),
        (f"{AT} ; rr:datatype xsd:dateTimeStamp", False),
        (f"{AT} ; rr:datatype xsd:date", False),
        (':at rr:column "due"', False),
        (':at rr:template "{ts}"', False),
    ],
)
def test_a_time_is_told_by_the_timestamp(at: str, told: bool, tmp_path: Path) -> None:
    made, _ = read(tmp_path, "SELECT ?t { ?o a :A ; :at ?t }", write_map("s", "o/{id}", A, at))
    assert made is not None
    assert ("GRAPH ?t " in made) is told
