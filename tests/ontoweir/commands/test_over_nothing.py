"""Without GROUP BY an aggregate has a row also where nothing can match; with it, none."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 9 }, x = { type = "int", min = 0, max = 99 } }
"""
NEVER = "s.x > 5 AND s.x < 3"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    table = pa.table({"ts": pa.array([3, 4], pa.timestamp("s")), "k": [1, 2], "x": [5, 7]})
    pq.write_table(table, tmp_path / "s.parquet")
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    return tmp_path


def _replay(run: Run, project: Path, sql: str, *more: str) -> list[dict[str, object]]:
    output = project / "o.jsonl"
    output.unlink(missing_ok=True)
    given = ("--sql", sql, "--output", str(output), "--format", "jsonl", "--summary", "json")
    ran = run("replay", str(project), *given, *more)
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out.splitlines()[-1])
    assert summary["state_rows_max"] <= summary["bound_rows"]
    return [json.loads(line) for line in output.read_text().splitlines()]


@pytest.mark.parametrize(
    "source",
    [
        f"s WHERE {NEVER}",
        "s a, s b WHERE a.k = b.k AND a.ts < b.ts AND b.ts < a.ts",
        f"s WHERE ({NEVER}) OR (s.k > 4 AND s.k < 2)",
    ],
)
def test_a_row_over_nothing(source: str, project: Path, run: Run) -> None:
    column = "x" if source.startswith("s WHERE") else "a.x"
    sql = f"SELECT COUNT(*) AS n, MAX({column}) AS m FROM {source}"
    row = {"n": 0, "m": None, "at": "1970-01-01T00:00:03"}
    assert _replay(run, project, sql, "--final") == [row]
    assert _replay(run, project, sql, "--emit", "changes") == [{**row, "op": "+"}]
    assert _replay(run, project, sql) == []  # no row of it is updated


@pytest.mark.parametrize(
    "source",
    [
        "s WHERE NOT EXISTS (SELECT 1 FROM s b WHERE b.k = s.k AND b.ts <= s.ts)",
        "s WHERE s.x > 90 AND EXISTS (SELECT 1 FROM s b WHERE b.k = s.k AND b.ts < s.ts)",
        "(SELECT ts, x, LAG(x) OVER (PARTITION BY k ORDER BY ts) AS y FROM s) AS s WHERE s.y > 99",
    ],
)
def test_a_row_over_no_answers(source: str, project: Path, run: Run) -> None:
    """Of a query that reads answers it begins with the streams that these are made of."""
    toml = project / "ontoweir.toml"
    toml.write_text(PROJECT.replace("[streams.s]", '[streams.s]\nkeys = [["k", "ts"]]'))
    sql = f"SELECT COUNT(*) AS n, MAX(s.x) AS m FROM {source}"
    row = {"n": 0, "m": None, "at": "1970-01-01T00:00:03"}
    assert _replay(run, project, sql, "--final") == [row]
    assert _replay(run, project, sql, "--emit", "changes") == [{**row, "op": "+"}]


def test_none_of_groups(project: Path, run: Run) -> None:
    sql = f"SELECT k, COUNT(*) AS n FROM s WHERE {NEVER} GROUP BY k"
    for more in (("--final",), ("--emit", "changes"), ()):
        assert _replay(run, project, sql, *more) == []


def test_none_over_no_row(project: Path, run: Run) -> None:
    """There is no timestamp that it could begin with."""
    pq.write_table(pq.read_table(project / "s.parquet").slice(0, 0), project / "s.parquet")
    sql = f"SELECT COUNT(*) AS n FROM s WHERE {NEVER}"
    assert _replay(run, project, sql, "--final") == []


@pytest.mark.parametrize(
    ("group", "said"),
    [
        (
            "date_trunc('day', ts)",
            "no results: a group has its row when its bucket of time is over",
        ),
        (
            "k, session_window(ts, INTERVAL '1' HOUR)",
            "no results: a session has its row when 1 hour",
        ),
        ("date_trunc('second', ts)", ""),
        ("k", ""),
    ],
)
def test_why_there_are_no_results(group: str, said: str, project: Path, run: Run) -> None:
    shown = "" if "session" in group else f"{group} AS g, "
    sql = f"SELECT {shown}COUNT(*) AS n FROM s GROUP BY {group}"
    ran = run("replay", str(project), "--sql", sql, "--output", str(project / "o.csv"))
    assert ran.code == 0, ran.err
    assert said in ran.out
    assert ("no results" in ran.out) == bool(said)
