"""RSP-QL: what only an axiom makes of a row is in the window that has the row, in all its patterns;
and in no window of another stream."""

from pathlib import Path

import pytest

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rspql"]
[streams.visit]
iri = "http://x/visits"
source = { format = "csv", path = "visit.csv" }
timestamp = { column = "ts", unit = "1 minute" }
columns = { crew = "int" }
[streams.power]
iri = "http://x/powers"
source = { format = "csv", path = "power.csv" }
timestamp = { column = "ts", unit = "1 minute" }
columns = { crew = "int" }
"""
ONTOLOGY = """
@prefix : <http://x/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:doneBy a owl:ObjectProperty .
:Visit rdfs:subClassOf [
    a owl:Restriction ; owl:onProperty :doneBy ; owl:someValuesFrom :Technician ] .
"""
MAPPINGS = """
@prefix : <http://x/> . @prefix rr: <http://www.w3.org/ns/r2rml#> .
<#Visit> rr:logicalTable [ rr:tableName "visit" ] ;
    rr:subjectMap [ rr:template "http://x/v/{crew}" ; rr:class :Visit ] .
<#Power> rr:logicalTable [ rr:tableName "power" ] ;
    rr:subjectMap [ rr:template "http://x/t/{crew}" ; rr:class :Technician ] ;
    rr:predicateObjectMap [
        rr:predicate :does ; rr:objectMap [ rr:template "http://x/v/{crew}" ] ] .
"""


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("WINDOW :w { ?v :doneBy ?x . ?x a :Technician }", True),
        ("WINDOW :w { ?v a :Visit ; :doneBy [ a :Technician ] }", True),
        ("WINDOW :w { ?v :doneBy ?x } WINDOW :p { ?x a :Technician }", False),
        ("WINDOW :w { ?v a :Visit } WINDOW :p { ?v :doneBy ?x . ?x a :Technician }", False),
    ],
)
def test_in_a_window(body: str, made: bool, tmp_path: Path) -> None:
    windows = "FROM NAMED WINDOW :w ON :visits [RANGE PT1H]\n"
    windows += "FROM NAMED WINDOW :p ON :powers [RANGE PT1H]\n" * (":p " in body)
    query = f"PREFIX : <http://x/>\nREGISTER RSTREAM :q AS\nSELECT DISTINCT ?v\n{windows}"
    files = {"ontoweir.toml": TOML, "o.ttl": ONTOLOGY, "m.ttl": MAPPINGS}
    files["q.rspql"] = f"{query}WHERE {{ {body} }}"
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    union = Workspace(load_project(tmp_path, environ={})).compile("q").union
    assert bool(union.disjuncts) == made
