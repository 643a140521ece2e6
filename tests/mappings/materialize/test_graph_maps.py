"""Named graphs: a query with FROM has the answers that the N-Quads of its graphs have."""

import random
import re
import sqlite3
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from rdflib import Dataset, Graph, URIRef
from rdflib.query import ResultRow

from ontoweir.errors import MappingError, QueryError
from ontoweir.mappings.materialize.materialize_triples import materialize_triples
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.print_sql import print_sql

TOML = """
[project]
ontology = ["o.ofn"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[relations.s]
source = { format = "csv", path = "s" }
columns = { id = "int", n = "int", a = "string", g = "string" }
keys = [["id"]]
"""
ONTOLOGY = """Prefix(:=<http://ex.org/>)
Ontology(<http://ex.org/o>
  SubClassOf(:Small :Thing2)
  SubClassOf(ObjectSomeValuesFrom(:near owl:Thing) :Thing2)
  SubClassOf(:Small ObjectSomeValuesFrom(:near :Small))
)
"""
ROOT = "http://ex.org/"
DEFAULT = "http://www.w3.org/ns/r2rml#defaultGraph"
GRAPHS = [DEFAULT, *(ROOT + g for g in ("g", "h", "n/1", "n/2", "a/x%20y", "a/z"))]
SUBJECT = 'rr:template "http://ex.org/{id}"'
BY_N = '[ rr:template "http://ex.org/n/{n}" ]'
BY_A = '[ rr:template "http://ex.org/a/{a}" ]'
MAPS = {
    "no graph": (SUBJECT, ""),
    "of the subject": (f"{SUBJECT} ; rr:graph :g", ""),
    "default and named": (f"{SUBJECT} ; rr:graph rr:defaultGraph, :h", ""),
    "of the pair": (SUBJECT, "rr:graph :g, :h"),
    "of both": (f"{SUBJECT} ; rr:graph :g", "rr:graph :h"),
    "a template": (SUBJECT, f"rr:graphMap {BY_N}"),
    "a text": (f"{SUBJECT} ; rr:graphMap {BY_A}", ""),
    "a column": (SUBJECT, 'rr:graphMap [ rr:column "g" ]'),
    "a template or :g": (f"{SUBJECT} ; rr:graph :g", f"rr:graphMap {BY_N}"),
    "by key and value": (
        f'{SUBJECT} ; rr:graphMap {BY_N}, [ rr:template "http://ex.org/i/{{id}}" ]',
        "",
    ),
    "two templates": (
        f'{SUBJECT} ; rr:graphMap {BY_N}, [ rr:template "http://ex.org/m/{{n}}" ]',
        "",
    ),
}
QUERIES = ["?x :p ?y", "?x a :Small", "?x a :Thing2 . ?x :p ?y", "?x :p ?v . ?y :p ?v"]


def write(folder: Path, mapping: str) -> None:
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "o.ofn").write_text(ONTOLOGY)
    (folder / "m.ttl").write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://ex.org/> .\n" + mapping
    )


def mapping(subject: str, pair: str) -> str:
    return (
        f'<#T> rr:logicalTable [ rr:tableName "s" ] ;\n'
        f"  rr:subjectMap [ {subject} ; rr:class :Small ] ;\n"
        f'  rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rr:column "a" ] ; {pair} ] .\n'
    )


def make_database(path: Path, seed: int) -> sqlite3.Connection:
    draw = random.Random(seed)
    connection = sqlite3.connect(path)
    connection.create_function(
        "concat", -1, lambda *v: None if None in v else "".join(map(str, v)), deterministic=True
    )
    connection.execute("CREATE TABLE s (id INTEGER PRIMARY KEY, n INT, a TEXT, g TEXT)")
    for n in range(20):
        row = (n, draw.choice((1, 2, 3, None)), draw.choice(("x y", "z", None)))
        connection.execute(
            "INSERT INTO s VALUES (?, ?, ?, ?)", (*row, draw.choice((ROOT + "g", None)))
        )
    connection.commit()
    return connection


def compile_query(folder: Path, graphs: list[str], body: str, head: str) -> tuple[Workspace, str]:
    froms = "".join(f"FROM <{g}> " for g in graphs)
    (folder / "q.rq").write_text(f"PREFIX : <http://ex.org/>\n{head} {froms} WHERE {{ {body} }}")
    workspace = Workspace(load_project(folder, environ={}))
    union = workspace.compile("q").union
    return workspace, print_sql(union, workspace.project.catalog, dialect="sqlite", comments=False)


def merge(quads: list[str], graphs: list[str]) -> Graph:
    """The default graph of the query, with what the ontology adds."""
    dataset, found = Dataset(), Graph()
    dataset.parse(data="\n".join(quads), format="nquads")
    for graph in graphs or [DEFAULT]:
        own = dataset.default_graph if graph == DEFAULT else dataset.graph(URIRef(graph))
        found += own
    found.update(
        "PREFIX : <http://ex.org/> INSERT { ?x a :Thing2 } WHERE { { ?x a :Small } UNION "
        "{ ?x :near ?y } }"
    )
    return found


def same_answers(folder: Path, name: str, graphs: list[str], body: str) -> None:
    subject, pair = MAPS[name]
    write(folder, mapping(subject, pair))
    variables = " ".join(dict.fromkeys(re.findall(r"\?[xy]", body)))
    _, printed = compile_query(folder, graphs, body, f"SELECT {variables}")
    for seed in range(2):
        database = folder / f"{seed}.db"
        database.unlink(missing_ok=True)
        connection = make_database(database, seed)
        found = Counter(tuple(map(str, row)) for row in connection.execute(printed))
        connection.close()
        graph = merge(materialize_triples(folder / "m.ttl", database), graphs)
        wanted = Counter(
            tuple(map(str, row))
            for row in graph.query(f"PREFIX : <http://ex.org/> SELECT {variables} {{ {body} }}")
            if isinstance(row, ResultRow)
        )
        assert found == wanted, (name, graphs, body)


@pytest.mark.parametrize("name", MAPS)
def test_answers_are_those_of_the_graphs(name: str, tmp_path: Path) -> None:
    choices = [[], *([g] for g in GRAPHS), *map(list, combinations(GRAPHS, 2)), GRAPHS]
    draw = random.Random(name)
    for graphs in [*choices[:8], *draw.sample(choices[8:], 8)]:
        same_answers(tmp_path, name, list(graphs), draw.choice(QUERIES))


def test_two_graph_maps_from_one_column_count_a_row_once(tmp_path: Path) -> None:
    """n/1 by one graph map and m/1 by the other: rows with n = 1 are in both, and count once."""
    graphs = [ROOT + "n/1", ROOT + "m/1", ROOT + "m/2"]
    same_answers(tmp_path, "two templates", graphs, "?x :p ?y")
    for i in range(4):
        same_answers(tmp_path, "by key and value", [f"{ROOT}i/{i}", ROOT + "n/1"], "?x :p ?y")


def test_two_graph_maps_from_columns_that_may_be_null_are_refused_together(tmp_path: Path) -> None:
    write(tmp_path, mapping(f"{SUBJECT} ; rr:graphMap {BY_N}, {BY_A}", ""))
    with pytest.raises(MappingError, match="several graphs of FROM"):
        compile_query(tmp_path, [ROOT + "n/1", ROOT + "a/z"], "?x a :Small", "SELECT ?x")
    _, printed = compile_query(tmp_path, [ROOT + "n/1"], "?x a :Small", "SELECT ?x")
    assert "n = 1" in printed


def test_existentials_are_those_of_the_selection(tmp_path: Path) -> None:
    """Small things are near something: in the graph where they are Small, and nowhere else."""
    write(tmp_path, mapping(f"{SUBJECT} ; rr:graph :g", ""))
    _, printed = compile_query(tmp_path, [ROOT + "g"], "?x :near ?y", "SELECT DISTINCT ?x")
    assert "FROM s" in printed
    _, printed = compile_query(tmp_path, [], "?x :near ?y", "SELECT DISTINCT ?x")
    assert "FROM s" not in printed


def test_what_is_mapped_elsewhere_is_named(tmp_path: Path) -> None:
    write(tmp_path, mapping(f"{SUBJECT} ; rr:graph :g", ""))
    for body, warned in (("?x :p ?y", True), ("?x a :Thing2", True)):
        (tmp_path / "q.rq").write_text(f"PREFIX : <http://ex.org/> SELECT ?x {{ {body} }}")
        found = Workspace(load_project(tmp_path, environ={})).compile("q").warnings
        assert any("write FROM <http://ex.org/g> before WHERE" in w for w in found) == warned
        (tmp_path / "q.rq").write_text(f"PREFIX : <http://ex.org/> SELECT ?x FROM :g {{ {body} }}")
        found = Workspace(load_project(tmp_path, environ={})).compile("q").warnings
        assert not any("FROM" in w for w in found)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("SELECT ?x FROM NAMED :g { ?x :p ?y }", "write FROM and the IRI"),
        ("SELECT ?x { GRAPH :g { ?x :p ?y } }", "asked with FROM"),
        ("SELECT ?x FROM nope:g { ?x :p ?y }", "PREFIX nope:"),
    ],
)
def test_what_graphs_cannot_be_is_refused(text: str, fix: str, tmp_path: Path) -> None:
    write(tmp_path, mapping(f"{SUBJECT} ; rr:graph :g", ""))
    (tmp_path / "q.rq").write_text(f"PREFIX : <http://ex.org/>\n{text}")
    with pytest.raises(QueryError) as caught:
        Workspace(load_project(tmp_path, environ={})).compile("q")
    assert fix in str(caught.value)
    assert caught.value.source is not None
    assert caught.value.source.line == 2


def test_facts_of_the_ontology_hold_in_every_selection(tmp_path: Path) -> None:
    write(tmp_path, mapping(f"{SUBJECT} ; rr:graph :g", ""))
    (tmp_path / "o.ofn").write_text(
        ONTOLOGY.replace(":Small :Thing2)", ":Small :Thing2)\n  ClassAssertion(:Small :one)", 1)
    )
    for graphs, found in (([], False), ([ROOT + "g"], True), ([ROOT + "h"], False)):
        _, printed = compile_query(tmp_path, graphs, "?x a :Thing2", "SELECT ?x")
        assert "'http://ex.org/one'" in printed
        assert ("FROM s" in printed) == found
