"""Aggregates over what the rest of the query language makes: UNION, FILTER, VALUES, FROM.

The printed SQL in DuckDB against rdflib's engine over the triples, written by hand.
"""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from random import Random

import duckdb
import pytest
import rdflib
from rdflib.query import ResultRow

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.print_sql import print_sql

Rows = Sequence[tuple[int, str | None, int | None, int | None]]
ROWS: Rows = [(1, "a", 3, 5), (2, "a", 1, 5), (3, "b", 2, 7), (4, "b", 2, None), (5, None, 9, 1)]
TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[relations.r]
source = { format = "csv", path = "r" }
keys = [["id"]]
columns = { id = "int", c = "string", v = "int", w = "int" }
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://e/> .
<#R> rr:logicalTable [ rr:tableName "r" ] ; rr:subjectMap [ rr:template "http://e/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate :c ; rr:objectMap [ rr:column "c" ] ] ;
  rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "v" ] ] ;
  rr:predicateObjectMap [ rr:predicate :w ; rr:objectMap [ rr:column "w" ] ; rr:graph :g ] .
"""
E = "http://e/"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder: Path = tmp_path_factory.mktemp("aggregates")
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(MAPPING)
    (folder / "o.ttl").write_text("<http://e/o> a <http://www.w3.org/2002/07/owl#Ontology> .")
    (folder / "q.rq").write_text("")
    return Workspace(load_project(folder, environ={}))


def ours(workspace: Workspace, query: str, rows: Rows = ROWS) -> Counter[tuple[object, ...]]:
    workspace.query_file("q").write_text(query)
    union = workspace.compile("q").union
    sql = print_sql(union, workspace.project.catalog, dialect="duckdb", comments=False)
    with duckdb.connect() as base:
        base.execute("CREATE TABLE r (id INT, c TEXT, v INT, w INT)")
        base.executemany("INSERT INTO r VALUES (?, ?, ?, ?)", rows)
        return Counter(tuple(map(plain, row)) for row in base.execute(sql).fetchall())


def by_definition(query: str, *, graph: bool, rows: Rows = ROWS) -> Counter[tuple[object, ...]]:
    """FROM <g> is the graph :g alone; without FROM, the default graph."""
    data = rdflib.Graph()
    for i, c, v, w in rows:
        for name, value in (("w", w),) if graph else (("c", c), ("v", v)):
            if value is not None:
                data.add((rdflib.URIRef(f"{E}{i}"), rdflib.URIRef(E + name), rdflib.Literal(value)))
    text = "\n".join(line for line in query.split("\n") if not line.startswith("FROM"))
    found = data.query(text)
    return Counter(
        tuple(map(plain, row.asdict().values())) for row in found if isinstance(row, ResultRow)
    )


def plain(value: object) -> object:
    value = value.toPython() if isinstance(value, rdflib.Literal) else value
    return round(float(value), 9) if isinstance(value, int | float | Decimal) else str(value)


@pytest.mark.parametrize(
    ("select", "where", "group"),
    [
        ("?c (COUNT(*) AS ?n) (SUM(?v) AS ?s)", "?i :c ?c ; :v ?v FILTER(?v > 1)", "?c"),
        ("?c (AVG(?v) AS ?m)", "?i :c ?c ; :v ?v FILTER(?v = 3 || ?c = 'b')", "?c"),
        (
            "?c (COUNT(*) AS ?n) (SUM(?v) AS ?s)",
            "{ ?i :c ?c ; :v ?v } UNION { ?i :c ?c ; :v ?v FILTER(?v > 1) }",
            "?c",
        ),
        (
            "?c (MAX(?v) AS ?m) (COUNT(DISTINCT ?i) AS ?k)",
            "{ ?i :c ?c ; :v ?v } UNION { ?i :c ?c . ?j :v ?v . ?j :c ?c }",
            "?c",
        ),
        ("?c (COUNT(?v) AS ?n)", "?i :c ?c ; :v ?v VALUES ?v { 2 2 3 }", "?c"),
        ("(COUNT(?i) AS ?n) (MIN(?v) AS ?m)", "?i :v ?v FILTER(?v IN (1, 2, 9))", ""),
    ],
)
def test_over_patterns(workspace: Workspace, select: str, where: str, group: str) -> None:
    end = f"GROUP BY {group}" if group else ""
    query = f"PREFIX : <{E}>\nSELECT {select}\nWHERE {{ {where} }} {end}"
    wanted = by_definition(query, graph=False)
    assert wanted
    assert ours(workspace, query) == wanted


@pytest.mark.parametrize("seed", range(25))
def test_what_has_no_value_is_no_match(workspace: Workspace, seed: int) -> None:
    """Unlike in SQL: NULL makes no triple, and a pattern that finds none does not match, so that
    all aggregates are over the same matches."""
    random = Random(seed)

    def some(*values: object) -> object:
        return random.choice([None, *values])

    rows = [(i, some("a", "b"), some(1, 2, 3), None) for i in range(random.randint(1, 9))]
    calls = ["COUNT(*)", "COUNT(?v)", "COUNT(?c)", "SUM(?v)", "AVG(?v)", "MIN(?v)", "MAX(?v)"]
    calls += ["COUNT(DISTINCT ?v)", "COUNT(DISTINCT ?c)"]
    chosen = random.sample(calls, k=random.randint(1, 4))
    group = random.choice(["?c", "?v", "?c ?v", "?i"])
    select = " ".join(f"({c} AS ?x{n})" for n, c in enumerate(chosen))
    where = random.choice(["?i :c ?c ; :v ?v", "?i :c ?c . ?j :v ?v ; :c ?c"])
    query = f"PREFIX : <{E}>\nSELECT {group} {select}\nWHERE {{ {where} }} GROUP BY {group}"
    wanted = by_definition(query, graph=False, rows=rows)  # type: ignore[arg-type]
    assert ours(workspace, query, rows) == wanted  # type: ignore[arg-type]


def test_over_a_named_graph(workspace: Workspace) -> None:
    query = (
        f"PREFIX : <{E}>\nSELECT ?w (COUNT(*) AS ?n) (SUM(?w) AS ?s)\nFROM <{E}g>\n"
        "WHERE { ?i :w ?w FILTER(?w > 1) } GROUP BY ?w"
    )
    wanted = by_definition(query, graph=True)
    assert len(wanted) == 2
    assert ours(workspace, query) == wanted


def test_a_sum_of_what_the_query_says_itself(workspace: Workspace) -> None:
    query = f"PREFIX : <{E}>\nSELECT (SUM(?v) AS ?s)\nWHERE {{ ?i :v ?v VALUES ?v {{ 2 3 }} }}"
    wanted = by_definition(query, graph=False)
    assert wanted
    assert ours(workspace, query) == wanted


def test_a_sum_of_a_text_is_refused(workspace: Workspace) -> None:
    query = f"PREFIX : <{E}>\nSELECT (SUM(?n) AS ?s)\nWHERE {{ ?i :v ?v BIND('a' AS ?n) }}"
    with pytest.raises(QueryError, match="not literals of a column"):
        ours(workspace, query)


def test_a_branch_of_another_type_is_refused(workspace: Workspace) -> None:
    query = (
        f"PREFIX : <{E}>\nSELECT (MAX(?v) AS ?m)\nWHERE {{ {{ ?i :v ?v }} UNION {{ ?i :c ?v }} }}"
    )
    with pytest.raises(QueryError, match="MAX") as caught:
        ours(workspace, query)
    assert caught.value.source is not None
    assert caught.value.source.line == 2
