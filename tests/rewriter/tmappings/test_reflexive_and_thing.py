"""Reflexive properties and owl:Thing, down to SQL: every answer, under its own name."""

from pathlib import Path

import duckdb

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.print_sql import print_sql

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["*.rq"]
[relations.s]
source = { format = "csv", path = "s.csv" }
columns = { id = "int", nx = "int", u = "int" }
"""
ONTOLOGY = """
@prefix : <http://x/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:near a owl:ObjectProperty , owl:ReflexiveProperty .
owl:Thing rdfs:subClassOf :T .
:S a owl:Class .
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://x/> .
<#M> rr:logicalTable [ rr:tableName "s" ] ;
  rr:subjectMap [ rr:template "http://x/{id}" ; rr:class :S ] ;
  rr:predicateObjectMap [ rr:predicate :near ; rr:objectMap [ rr:template "http://x/{nx}" ] ] .
<#U> rr:logicalTable [ rr:tableName "s" ] ;
  rr:subjectMap [ rr:template "http://u/{u}" ; rr:class :Undeclared ] .
"""
QUERIES = {
    "pairs": "SELECT DISTINCT ?x ?y { ?x :near ?y }",
    "groups": "SELECT ?x (COUNT(DISTINCT ?y) AS ?c) { ?x a :S ; :near ?y } GROUP BY ?x",
    "things": "SELECT DISTINCT ?x { ?x a <http://www.w3.org/2002/07/owl#Thing> }",
    "below": "SELECT DISTINCT ?x { ?x a :T }",
}


def answers(folder: Path, name: str) -> tuple[list[str], list[tuple[object, ...]]]:
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "o.ttl").write_text(ONTOLOGY)
    (folder / "m.ttl").write_text(MAPPING)
    for key, text in QUERIES.items():
        (folder / f"{key}.rq").write_text(f"PREFIX : <http://x/>\n{text}")
    workspace = Workspace(load_project(folder, environ={}))
    union = workspace.compile(name).union
    db = duckdb.connect()
    db.execute("CREATE TABLE s (id INT, nx INT, u INT)")
    db.execute("INSERT INTO s VALUES (1, 2, 7), (2, 1, NULL), (3, NULL, 8)")
    found = db.execute(print_sql(union, workspace.project.catalog, dialect="duckdb"))
    names = [d[0] for d in found.description or ()]
    return names, sorted(found.fetchall(), key=repr)


def test_a_reflexive_property_relates_everything_with_itself(tmp_path: Path) -> None:
    names, rows = answers(tmp_path, "pairs")
    assert names == ["x", "y"]
    x = [f"http://x/{i}" for i in (1, 2, 3)]
    more = [("http://u/7", "http://u/7"), ("http://u/8", "http://u/8")]
    assert rows == sorted([(a, a) for a in x] + more + [(x[0], x[1]), (x[1], x[0])])


def test_it_is_counted_by_name(tmp_path: Path) -> None:
    names, rows = answers(tmp_path, "groups")
    assert names == ["x", "c"]
    assert rows == [("http://x/1", 2), ("http://x/2", 2), ("http://x/3", 1)]


def test_all_that_is_mapped_is_a_thing(tmp_path: Path) -> None:
    everything = [(f"http://u/{i}",) for i in (7, 8)] + [(f"http://x/{i}",) for i in (1, 2, 3)]
    assert answers(tmp_path, "things")[1] == everything
    assert answers(tmp_path, "below")[1] == everything
