"""`--udf`: a Python function of a row in SQL and SPARQL; checked without being run, replayed and
live alike; a change of its source is noticed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import ontoweir
from tests.ontoweir.commands.test_errors import is_one_line
from tests.ontoweir.conftest import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOML = """[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[streams.s]
source = { format = "csv", path = "data", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 2
keys = [["id", "ts"]]
columns = { id = { type = "int", min = 0, max = 3 }, c = "decimal(8,1)", name = "string" }
"""
ONTOLOGY = "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
MAPPING = """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://e/> .
<#M> rr:logicalTable [ rr:sqlQuery "SELECT id, c, heat(c) AS h FROM s" ] ;
  rr:subjectMap [ rr:template "http://e/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate :c ; rr:objectMap [ rr:column "c" ] ] ;
  rr:predicateObjectMap [ rr:predicate :h ; rr:objectMap [ rr:column "h" ] ] .
"""
QUERY = """PREFIX : <http://e/> PREFIX udf: <urn:ontoweir:udf:>
SELECT ?x ?h (udf:both(?c, ?h) AS ?b) { GRAPH ?t { ?x :c ?c ; :h ?h } FILTER(udf:warm(?c)) }
"""
MODULE = """from decimal import Decimal
from typing import Annotated, Optional
import pyarrow as pa
import pyarrow.compute as pc

def heat(c: Annotated[pa.Array, Decimal]) -> Annotated[pa.Array, float]:
    return pc.multiply(c.cast(pa.float64()), 2.0)

def both(c: Decimal, h: Optional[float]) -> str:
    return f"{c} {h}"

def warm(c: Decimal) -> bool:
    return c > 1
"""
FUNCTIONS = ("--udf", "rows:heat", "--udf", "rows:both", "--udf", "rows:warm")
ROWS = (("0", "1.0", "a"), ("1", "2.5", "b"), ("2", "", "c"), ("3", "4.0", ""), ("1", "7.5", "b"))
WANTED = [("1", 5.0, "2.5 5.0"), ("3", 8.0, "4.0 8.0"), ("1", 15.0, "7.5 15.0")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"ontoweir.toml": TOML, "o.ttl": ONTOLOGY, "m.ttl": MAPPING, "q.rq": QUERY}
    for name, text in {**files, "rows.py": MODULE}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "data").mkdir()
    lines = [f"2020-01-01T00:00:0{n}Z,{','.join(row)}" for n, row in enumerate(ROWS)]
    (tmp_path / "data" / "s.csv").write_text("\n".join(["ts,id,c,name", *lines]) + "\n")
    (tmp_path / "q.sql").write_text(
        "SELECT id, heat(c) AS h, both(c, heat(c)) AS b FROM s WHERE warm(c)"
    )
    return tmp_path


def read(file: Path, name: str) -> list[tuple[str, float, str]]:
    rows = pq.read_table(file).to_pylist()
    return [(str(r[name]).removeprefix("http://e/"), r["h"], r["b"]) for r in rows]


def test_sql_and_sparql_replay_alike(run: Run, folder: Path) -> None:
    out = folder / "out.parquet"
    asked = (("--query", "q"), "x"), (("--sql", folder / "q.sql"), "id")
    for query, name in asked:
        ran = run("replay", folder, *query, *FUNCTIONS, "--output", out)
        assert ran.code == 0, ran.err
        assert sorted(read(out, name)) == sorted(WANTED)
        out.unlink()


def test_check_runs_nothing_and_knows_two_truth_values(run: Run, folder: Path) -> None:
    (folder / "rows.py").write_text(MODULE + "raise RuntimeError\n")
    (folder / "d.sql").write_text("SELECT DISTINCT warm(c) AS w FROM s")
    ran = run("check", folder, "--sql", folder / "d.sql", *FUNCTIONS, "--format", "json")
    assert ran.code == 0, ran.err
    (verdict,) = json.loads(ran.out)
    assert (verdict["verdict"], verdict["bound"]["rows"]) == ("bounded", 2)
    (folder / "d.sql").write_text("SELECT DISTINCT heat(c) AS w FROM s")
    ran = run("check", folder, "--sql", folder / "d.sql", *FUNCTIONS, "--format", "json")
    assert json.loads(ran.out)[0]["verdict"] == "undecided"
    ran = run("replay", folder, "--query", "q", *FUNCTIONS, "--output", folder / "o.parquet")
    assert ran.code == 2
    assert is_one_line(ran.err)
    assert "does not run: RuntimeError" in ran.err


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT both(c) AS b FROM s", "both takes 2 of (decimal(38,6), double)"),
        ("SELECT both(name, 1) AS b FROM s", "both of string; it takes"),
        ("SELECT warm(1.5) AS b FROM s", "reads no column"),
        ("SELECT cold(c) AS b FROM s", "cold(c) is outside"),
    ],
)
def test_wrong_calls_are_refused(run: Run, folder: Path, sql: str, message: str) -> None:
    (folder / "w.sql").write_text(sql)
    ran = run("check", folder, "--sql", folder / "w.sql", *FUNCTIONS)
    assert ran.code == 2
    assert is_one_line(ran.err)
    assert message in ran.err


def test_python_has_them_too(folder: Path) -> None:
    opened = ontoweir.open_project(folder, udf=["rows:heat", "rows:both", "rows:warm"])
    assert opened.check("q").plans is not None


@pytest.mark.spark
def test_live_as_replayed_until_the_source_changes(
    run: Run, folder: Path, spark: "SparkSession"
) -> None:
    (folder / "data" / "t.csv").write_text("ts,id,c,name\n2020-01-01T00:00:09Z,0,0.0,x\n")
    command = ("run", folder, "--query", "q", "--once", *FUNCTIONS)
    ran = run(*command)
    assert ran.code == 0, ran.err
    files = (folder / "out" / "answers" / "q").glob("*.parquet")
    assert sorted(row for f in files for row in read(f, "x")) == sorted(WANTED)
    (folder / "rows.py").write_text(MODULE.replace("c > 1", "c > 2"))
    ran = run(*command)
    assert ran.code == 2
    assert is_one_line(ran.err)
