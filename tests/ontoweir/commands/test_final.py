"""Of an aggregate, `--final` keeps the last row of each group: those of DuckDB over the history."""

import math
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.cli import main
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import make_job
from ontoweir.runtime.replay import keep_last
from ontoweir.runtime.replay.keep_last import LastRows
from tests.ontoweir.conftest import Run
from tests.runtime.in_process import replay_here

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.string()), ("n", pa.int64()), ("at", pa.int64())])


class _List:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.tables: list[pa.Table] = []

    @property
    def rows(self) -> int:
        return sum(t.num_rows for t in self.tables)

    def write(self, table: pa.Table) -> None:
        self.tables.append(table)

    def append(self, file: Path) -> None:
        raise AssertionError


def _last(group: list[str], tables: list[pa.Table]) -> list[dict[str, Any]]:
    sink = _List()
    last = LastRows(sink, group)
    for table in tables:
        last.write(table)
    last.finish()
    assert last.rows == sink.rows
    return [row for table in sink.tables for row in table.to_pylist()]


@pytest.mark.parametrize("fewest", [1, 7, 65_536])
@pytest.mark.parametrize("group", [["k"], ["k", "t"], []])
def test_the_last_row_of_each_group(
    fewest: int, group: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep_last, "_FEWEST", fewest)
    for seed in range(40):
        random = Random(seed)
        rows = [
            {
                "k": random.choice([0, 1, -(2**63), 2**63 - 1]),
                "t": random.choice(["", "a", "ä"]),
                "n": n,
                "at": n // 3,
            }
            for n in range(random.choice([0, 1, 50]))
        ]
        cuts = sorted(random.randint(0, len(rows)) for _ in range(5))
        parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
        found = _last(group, [pa.Table.from_pylist(p, SCHEMA) for p in parts])
        wanted: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in rows:
            wanted[tuple(row[g] for g in group)] = row
        assert sorted(found, key=lambda r: int(r["n"])) == found  # in the order of time
        assert found == sorted(wanted.values(), key=lambda r: int(r["n"]))


PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = { type = "int", min = -5, max = 5 }
a = { type = "int", min = 0, max = 100 }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    random = Random(3)
    count = 2_000
    times = pa.array([n // 2 * 1_000_000 for n in range(count)], pa.int64())
    table = {
        "ts": times.cast(pa.timestamp("us")),
        "k": [random.randint(-5, 5) for _ in range(count)],
        "a": [random.randint(0, 100) for _ in range(count)],
    }
    pq.write_table(pa.table(table), tmp_path / "s.parquet", row_group_size=200)
    return tmp_path


QUERIES = {
    "groups": "SELECT s.k, COUNT(*) AS n, SUM(s.a) AS total, MIN(s.a) AS least FROM s GROUP BY s.k",
    "whole": "SELECT COUNT(*) AS n, MAX(s.a) AS most, AVG(s.a) AS mean FROM s",
    "median": "SELECT s.k, MEDIAN(s.a) AS m FROM s GROUP BY s.k",
    "nothing": "SELECT s.k, COUNT(*) AS n FROM s WHERE s.a > 100 GROUP BY s.k",
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_answers_of_sql(name: str, form: str, project: Path) -> None:
    (project / "q.sql").write_text(QUERIES[name])
    output = project / f"out.{form}"
    call = ["replay", str(project), "--sql", str(project / "q.sql"), "--output", str(output), "-q"]
    assert main([*call, "--final"]) == 0
    read = f"SELECT * EXCLUDE (\"at\") FROM '{output}'"
    db = duckdb.connect()
    db.execute(f"CREATE VIEW s AS SELECT * FROM '{project / 's.parquet'}'")
    found = sorted(db.execute(read).fetchall())
    wanted = sorted(db.execute(QUERIES[name]).fetchall())
    assert len(found) == len(wanted)
    for row, other in zip(found, wanted, strict=True):
        assert all(math.isclose(a, b) for a, b in zip(row, other, strict=True))
    # its twin: without it, a row for every update
    assert main(call) == 0
    updates = db.execute(f"SELECT count(*) FROM '{output}'").fetchone()
    assert updates is not None
    assert updates[0] > len(wanted) or name == "nothing"


def test_of_what_is_no_aggregate_nothing_changes(project: Path, run: Run) -> None:
    (project / "q.sql").write_text("SELECT s.a FROM s WHERE s.k = 1")
    call = ("replay", project, "--sql", project / "q.sql", "--output")
    ran = run(*call, project / "final.csv", "--final")
    assert ran.code == 0
    assert "--final changes nothing for q" in ran.err
    assert "--final" not in run(*call, project / "all.csv").err
    assert (project / "final.csv").read_bytes() == (project / "all.csv").read_bytes()


def test_several_ranges(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tasks have written range by range is folded like what one has."""
    workspace = Workspace(load_project(project, environ={}))
    (project / "q.sql").write_text(QUERIES["groups"])
    compiled = workspace.compile_sql(project / "q.sql")
    job, _ = make_job(workspace, compiled, workspace.check(compiled), Statistics())
    found = {}
    for ranges in (1, 3):
        options: dict[str, Any] = {"ranges": ranges, "rows_per_range": 100, "rows_per_chunk": 150}
        output = project / f"{ranges}.parquet"
        rows, summary = replay_here(monkeypatch, job, output, final=True, **options)
        assert summary.ranges == ranges
        assert summary.results == len(rows) == 11
        found[ranges] = sorted(rows, key=lambda r: int(r["k"]))
    assert found[1] == found[3]
