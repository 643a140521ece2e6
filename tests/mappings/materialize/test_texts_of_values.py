"""IRIs made from decimals, booleans, dates and timestamps: as materialize makes them, in SQL, in
answers, and where a query names them; doubles only where no text is needed."""

import sqlite3
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote, unquote

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cli import main
from ontoweir.errors import QueryError
from ontoweir.mappings.materialize.materialize_triples import materialize_triples
from ontoweir.mappings.materialize.write_value import Value, write_value
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.runtime.columnar.write_texts import write_texts

TOML = """
[project]
ontology = ["o.ofn"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[relations.s]
source = { format = "csv", path = "s" }
[relations.s.columns]
id = "int"
d = "decimal(6,2)"
w = "decimal(4,0)"
f = "double"
b = "boolean"
day = "date"
hour = "timestamp"
"""
TYPES = {
    "d": "DECIMAL(6,2)",
    "w": "DECIMAL(4,0)",
    "b": "BOOLEAN",
    "day": "DATE",
    "hour": "TIMESTAMP",
    "f": "DOUBLE",
}
ROWS = [
    (1, "1.50", "30", "true", "2014-08-01", "2014-08-01 07:05:00", "0.5"),
    (2, "100.00", "0", "false", "2014-12-31", "2014-08-01 00:00:00", "100.0"),
    (3, "-0.25", "-7", "true", "1969-12-31", "1969-12-31 23:59:59.5", "-0.25"),
    (4, "0.00", "10", "false", "2000-02-29", "2000-02-29 12:00:00.000001", "0.0"),
]
COLUMNS = ("id", "d", "w", "b", "day", "hour", "f")
EXACT = ["d", "w", "b", "day", "hour"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "o.ofn").write_text("Ontology(<http://ex.org/o>)")
    pairs = "".join(
        f" ;\n rr:predicateObjectMap [ rr:predicate :{c} ; rr:objectMap [ "
        f'rr:template "http://ex.org/{{{c}}}/x" ] ]'
        for c in COLUMNS
    )
    (tmp_path / "m.ttl").write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://ex.org/> .\n"
        '<#T> rr:logicalTable [ rr:tableName "s" ] ;\n'
        ' rr:subjectMap [ rr:template "http://ex.org/{id}" ]'
        f"{pairs} .\n"
    )
    connection = sqlite3.connect(tmp_path / "s.db")
    typed = ", ".join(f"{c} {TYPES.get(c, 'INTEGER')}" for c in COLUMNS)
    connection.execute(f"CREATE TABLE s ({typed})")
    connection.executemany("INSERT INTO s VALUES (?, ?, ?, ?, ?, ?, ?)", ROWS)
    connection.execute("UPDATE s SET b = (b = 'true')")
    connection.commit()
    connection.close()
    return tmp_path


def unfold(folder: Path, body: str) -> tuple[SpjUnion, str]:
    (folder / "q.rq").write_text(f"PREFIX : <http://ex.org/>\nSELECT {body}")
    workspace = Workspace(load_project(folder, environ={}))
    union = workspace.compile("q").union
    return union, print_sql(union, workspace.project.catalog, dialect="duckdb", comments=False)


def run(folder: Path, body: str) -> set[tuple[str, ...]]:
    connection = duckdb.connect()
    typed = ", ".join(f"{c} {TYPES.get(c, 'INTEGER')}" for c in COLUMNS)
    connection.execute(f"CREATE TABLE s ({typed})")
    connection.executemany("INSERT INTO s VALUES (?, ?, ?, ?, ?, ?, ?)", ROWS)
    return {tuple(map(str, r)) for r in connection.execute(unfold(folder, body)[1]).fetchall()}


def replayed(folder: Path, body: str) -> list[str]:
    (folder / "q.rq").write_text(f"PREFIX : <http://ex.org/>\nSELECT {body}")
    output = folder / "answers.parquet"
    assert main(["replay", str(folder), "--query", "q", "--output", str(output), "-q"]) == 0
    return [str(v) for v in pq.read_table(output).column(0).to_pylist()]


def materialized(folder: Path, column: str) -> set[tuple[str, ...]]:
    quads = [q.split() for q in materialize_triples(folder / "m.ttl", folder / "s.db")]
    return {(s[1:-1], o[1:-1]) for s, p, o, _ in quads if p == f"<http://ex.org/{column}>"}


@pytest.mark.parametrize("column", EXACT)
def test_selected_and_named_as_materialized(column: str, folder: Path) -> None:
    wanted = materialized(folder, column)
    assert len(wanted) == len(ROWS)
    found = run(folder, f"?x ?y {{ ?x :{column} ?y }}")
    assert found == {(x, unquote(y)) for x, y in wanted}
    for _, iri in wanted:
        named = run(folder, f"?x {{ ?x :{column} <{iri}> }}")
        assert named == {(x,) for x, y in wanted if y == iri}


@pytest.mark.parametrize(
    ("column", "text"),
    [
        *[("d", "1.50"), ("d", "100.00"), ("w", "030"), ("b", "1"), ("b", "True"), ("f", "1.0E2")],
        *[
            ("hour", "2014-08-01%2007%3A05%3A00"),
            ("day", "20140801"),
            ("d", "+1.5"),
            ("f", "100.0"),
        ],
    ],
)
def test_another_spelling_is_another_iri(column: str, text: str, folder: Path) -> None:
    assert unfold(folder, f"?x {{ ?x :{column} <http://ex.org/{text}/x> }}")[0].disjuncts == ()


def test_doubles_join_and_are_named_but_are_not_selected(folder: Path) -> None:
    assert run(folder, "?x { ?x :f <http://ex.org/100/x> }") == {("http://ex.org/2",)}
    joined = run(folder, "?x ?y { ?x :f ?z . ?y :d ?z }")
    assert ("http://ex.org/2", "http://ex.org/2") in joined
    values = materialized(folder, "f"), materialized(folder, "d")
    assert joined == {(x, y) for x, z in values[0] for y, v in values[1] if z == v}
    with pytest.raises(QueryError, match="a double") as caught:
        unfold(folder, "?x ?z { ?x :f ?z }")
    assert "declare f as decimal(p,s) or string" in str(caught.value)


def test_answers_are_written_alike() -> None:
    values: list[Value] = [Decimal("1.50"), Decimal("100.00"), True, date(2014, 8, 1)]
    values += [datetime(2014, 8, 1, 7, 5), datetime(2014, 8, 1, 0, 0, 0, 500000)]
    for value in values:
        assert write_texts(pa.array([value, None]).drop_null()).to_pylist() == [write_value(value)]
    assert write_value(Decimal("1.50")) == write_value(1.5) == "1.5"
    assert write_value(Decimal("30.00")) == write_value(30) == write_value(30.0) == "30"


def test_a_streams_timestamp_joins_and_is_selected_and_named(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(
        TOML.split("[relations")[0] + "[streams.r]\n"
        'source = { format = "parquet", path = "r.parquet" }\n'
        'timestamp = { column = "ts", unit = "1 second" }\nkeys = [["id", "ts"]]\n'
        'columns = { id = "int" }\n'
    )
    (tmp_path / "o.ofn").write_text("Ontology(<http://ex.org/o>)")
    (tmp_path / "m.ttl").write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://ex.org/> .\n"
        '<#T> rr:logicalTable [ rr:tableName "r" ] ;\n'
        ' rr:subjectMap [ rr:template "http://ex.org/{id}" ] ;\n'
        " rr:predicateObjectMap [ rr:predicate :at ;"
        ' rr:objectMap [ rr:template "http://ex.org/{ts}" ] ] .'
    )
    joined, printed = unfold(tmp_path, "?x ?y { GRAPH ?t { ?x :at ?z } GRAPH ?u { ?y :at ?z } }")
    assert len(joined.disjuncts) == 1
    assert "r_1.ts = r_2.ts" in printed
    times = [datetime(2014, 8, 1), datetime(2014, 8, 1, 7, 5), datetime(2014, 12, 31, 23, 59, 59)]
    rows = pa.table({"ts": pa.array(times, pa.timestamp("us")), "id": [1, 2, 3]})
    pq.write_table(rows, tmp_path / "r.parquet")
    texts = ["http://ex.org/" + quote(write_value(time), safe="") for time in times]
    assert texts[0] == "http://ex.org/2014-08-01T00%3A00%3A00"
    assert replayed(tmp_path, "?z { GRAPH ?t { ?x :at ?z } }") == texts
    for text in texts:
        assert replayed(tmp_path, f"?t {{ GRAPH ?t {{ ?x :at <{text}> }} }}") != []
        assert replayed(tmp_path, f"?x {{ GRAPH ?t {{ ?x :at <{text}> }} }}") == [
            f"http://ex.org/{texts.index(text) + 1}"
        ]
    assert replayed(tmp_path, "?x { GRAPH ?t { ?x :at <http://ex.org/2014-08-01> } }") == []
