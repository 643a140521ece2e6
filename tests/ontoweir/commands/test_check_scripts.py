"""`ontoweir check FILE.sql`: scripts of other engines, without a project."""

import json
from pathlib import Path

import pytest

from ontoweir.cli import main

TABLES = """CREATE TABLE s (a BIGINT, b INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka');
CREATE TABLE t (a BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka');
"""
JOB = f"""{TABLES}
INSERT INTO soon
SELECT s.a FROM s JOIN t ON s.a = t.a AND t.ts BETWEEN s.ts AND s.ts + INTERVAL '5' SECOND;
INSERT INTO ever
SELECT s.a
FROM s JOIN t ON s.a = t.a;
"""
CATALOG = """[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 millisecond" }
columns = { a = { type = "int", min = 0, max = 9 }, b = "int" }
[streams.t]
source = { format = "parquet", path = "t.parquet" }
timestamp = { column = "ts", unit = "1 millisecond" }
columns = { a = { type = "int", min = 0, max = 9 } }
"""


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.sql").write_text(JOB)


def _verdicts(out: str) -> dict[str, str]:
    return {q["query"]: q["verdict"] for q in json.loads(out)}


def test_a_verdict_of_each_statement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "job.sql", "--format", "json"]) == 0
    soon, ever = json.loads(capsys.readouterr().out)
    assert (soon["verdict"], ever["verdict"]) == ("bounded", "unbounded")
    assert ever["source"] == {"file": "job.sql", "line": 7}
    assert ever["statement"] == "INSERT INTO ever\nSELECT s.a\nFROM s JOIN t ON s.a = t.a"
    assert ever["disjuncts"][0]["because"][0]["source"] == {"file": "job.sql", "line": 8}
    assert ever["repairs"]
    assert ever["witness"] is not None
    assert main(["check", "job.sql", "--fail-on", "unbounded"]) == 1
    text = capsys.readouterr().out
    assert "job.sql:8:" in text
    assert "repair 1: " in text
    assert main(["check", "job.sql", "--format", "github", "--fail-on", "unbounded"]) == 1
    assert "::error file=job.sql,line=8" in capsys.readouterr().out


def test_a_catalog_counts_where_both_declare(capsys: pytest.CaptureFixture[str]) -> None:
    Path("side.toml").write_text(CATALOG)
    assert main(["check", "job.sql", "--catalog", "side.toml", "--format", "json"]) == 0
    assert _verdicts(capsys.readouterr().out) == {
        "soon": "bounded",
        "ever": "conditionally-bounded",
    }


def test_one_select_needs_a_catalog_or_a_dialect_to_be_a_script(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without them it is a query of the project that is there."""
    Path("one.sql").write_text("SELECT s.a FROM s JOIN t ON s.a = t.a")
    assert main(["check", "one.sql"]) == 2
    assert "there is no project file" in capsys.readouterr().err
    Path("ontoweir.toml").write_text(CATALOG)
    assert main(["check", "one.sql", "--format", "json"]) == 0
    assert _verdicts(capsys.readouterr().out) == {"one": "conditionally-bounded"}
    Path("tables.sql").write_text(TABLES)
    assert main(["check", "tables.sql", "one.sql", "--format", "json"]) == 0
    assert _verdicts(capsys.readouterr().out) == {"one-1": "unbounded"}


def test_sparql_beside_a_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    Path("map.ttl").write_text(
        """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://e.org/> .
        [] rr:logicalTable [ rr:tableName "s" ] ; rr:subjectMap [ rr:template "http://e.org/{a}" ] ;
        rr:predicateObjectMap [ rr:predicate :b ; rr:objectMap [ rr:column "b" ] ] ."""
    )
    Path("side.toml").write_text(f'[project]\nmappings = ["map.ttl"]\n{CATALOG}')
    Path("q.rq").write_text("PREFIX : <http://e.org/> SELECT ?x { GRAPH ?t { ?x :b 1 } }")
    assert main(["check", "q.rq", "--catalog", "side.toml", "--format", "json"]) == 0
    assert _verdicts(capsys.readouterr().out) == {"q": "bounded"}


def test_what_is_refused_hides_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    Path("job.sql").write_text(f"{JOB}SELECT nothing FROM s;\nSELECT * FROM s ORDER BY a;")
    assert main(["check", "job.sql", "--format", "json"]) == 2
    said = capsys.readouterr()
    verdicts = _verdicts(said.out)
    assert list(verdicts.values()) == ["bounded", "unbounded", "refused", "refused"]
    assert "job.sql:10: unknown column 'nothing'" in said.err
    assert main(["check", "job.sql", "--skip-refused"]) == 1


def test_a_window_over_a_column_in_no_order_bounds_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The same joins, over the declared time, and over a column that only looks like it."""
    soon = "y.ts BETWEEN x.ts AND x.ts + INTERVAL '5' SECOND"
    for after, mark, verdict in (
        (soon, "LATENESS INTERVAL 1 HOUR", "bounded"),
        (soon, "", "refused"),
        ("y.ts = x.ts", "LATENESS INTERVAL 1 HOUR", "bounded"),
        ("y.ts = x.ts", "", "unbounded"),
    ):
        join = f"SELECT x.a FROM s x, s y WHERE x.a = y.a AND {after}"
        Path("f.sql").write_text(f"CREATE TABLE s (a INT, ts TIMESTAMP {mark}); {join};")
        main(["check", "f.sql", "--dialect", "feldera", "--format", "json"])
        assert list(_verdicts(capsys.readouterr().out).values()) == [verdict], (after, mark)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["job.sql", "--data"], "--data does not go with a script"),
        (["job.sql", "--fix"], "--fix does not go with a script"),
        (["job.sql", "--format", "html"], "--format html does not go with a script"),
        (["job.sql", "--dialect", "oracle"], "invalid choice: 'oracle'"),
        (["gone.sql", "--dialect", "flink"], "gone.sql cannot be read"),
        (["job.sql", "--catalog", "gone.toml"], "there is no project file"),
        (["--dialect", "flink"], "--dialect without a script"),
    ],
)
def test_wrong_input(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *arguments]) == 2
    assert said in capsys.readouterr().err
