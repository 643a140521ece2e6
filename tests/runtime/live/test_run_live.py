"""Live on Spark: files arrive, a run takes them in, is stopped or killed, and goes on."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import QueryError, UsageError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries

TOML = """
[streams.s]
source = {{ format = "parquet", path = "{0}/s", options = {{ maxFilesPerTrigger = "1" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 50
[streams.s.columns]
k = {{ type = "int", min = 0, max = 4 }}
a = "int"
[streams.u]
source = {{ format = "parquet", path = "{0}/u", options = {{ maxFilesPerTrigger = "1" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 50
[streams.u.columns]
k = {{ type = "int", min = 0, max = 4 }}
b = "int"
"""
QUERIES = {
    "matches": "SELECT s.k, u.b FROM s, u WHERE s.ts < u.ts AND s.k = u.k",
    "better": "SELECT DISTINCT s.k FROM s, u WHERE s.ts < u.ts AND s.k = u.k AND s.a < u.b",
    "sums": "SELECT s.k, COUNT(*) AS n, SUM(s.a) AS t FROM s, u "
    "WHERE s.ts < u.ts AND s.k = u.k GROUP BY s.k",
}
HOURS = 6


def write_history(folder: Path, first: int, last: int) -> None:
    """A file of each stream for every hour from `first` to before `last`."""
    for hour in range(first, last):
        for name, value, step in (("s", "a", 7), ("u", "b", 11)):
            seconds = [hour * 3600 + 70 * i * (1 + step % 3) for i in range(15)]
            table = pa.table(
                {
                    "ts": pa.array([t * 1_000_000 for t in seconds], pa.timestamp("us")),
                    "k": pa.array([(t * step) % 5 for t in seconds], pa.int64()),
                    value: pa.array([(t * 31 * step) % 101 for t in seconds], pa.int64()),
                }
            )
            (folder / name).mkdir(exist_ok=True)
            file = folder / name / f"{hour:03d}.parquet"
            pq.write_table(table, file)
            os.utime(file, (1000 + hour, 1000 + hour))  # files are taken in this order


def open_queries(folder: Path, names: list[str]) -> tuple[Workspace, list[CompiledQuery]]:
    (folder / "ontoweir.toml").write_text(TOML.format(folder))
    workspace = Workspace(load_project(folder, environ={}))
    compiled = []
    for name in names:
        (folder / f"{name}.sql").write_text(QUERIES[name])
        compiled.append(workspace.compile_sql(folder / f"{name}.sql"))
    return workspace, compiled


Row = tuple[Any, ...]


def read_output(folder: Path, name: str) -> list[Row]:
    files = sorted((folder / name).glob("*.parquet"))
    rows = [tuple(row.values()) for f in files for row in pq.read_table(f).to_pylist()]
    return sorted(rows, key=repr)


def replayed(
    folder: Path, workspace: Workspace, query: CompiledQuery, spark: SparkSession
) -> list[Row]:
    """What a replay gives before the last timestamp, which no later one has finished yet."""
    output = folder / f"{query.name}-replayed.parquet"
    replay_query(workspace, query, ReplayOptions(output, progress=False), spark)
    last = min(
        max(t for f in (folder / s).glob("*.parquet") for t in pq.read_table(f)["ts"].to_pylist())
        for s in ("s", "u")
    )
    rows = pq.read_table(output).to_pylist()
    return sorted((tuple(row.values()) for row in rows if row["at"] < last), key=repr)


def test_live_is_replay_across_restarts(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 3)
    workspace, compiled = open_queries(tmp_path, list(QUERIES))
    options = RunOptions(tmp_path / "check", tmp_path / "out", once=True, progress=False)
    first = run_queries(workspace, compiled, options, spark)
    write_history(tmp_path, 3, HOURS)
    second = run_queries(workspace, compiled, options, spark)
    assert first["tuples"] == second["tuples"] == HOURS // 2 * 30
    for query in compiled:
        assert read_output(tmp_path / "out", query.name) == replayed(
            tmp_path, workspace, query, spark
        )
    assert second["state_rows_max"] <= second["bound_rows"]
    again = run_queries(workspace, compiled, options, spark)  # nothing new: nothing happens
    assert again["tuples"] == 0


def test_what_breaks_its_declaration_is_in_the_rejects(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 1)
    bad = pa.table(
        {
            "ts": pa.array([500_000, 10_000_000, None], pa.timestamp("us")),
            "k": pa.array([1, 77, 1], pa.int64()),
            "a": pa.array([1, 1, 1], pa.int64()),
        }
    )
    first = tmp_path / "s" / "000.parquet"
    pq.write_table(pa.concat_tables([bad, pq.read_table(first)]), first)
    os.utime(first, (1, 1))  # files are taken in the order of their times
    write_history(tmp_path, 1, 2)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    options = RunOptions(tmp_path / "check", tmp_path / "out", once=True, progress=False)
    summary = run_queries(workspace, compiled, options, spark)
    assert summary["rejected"] == 3
    assert summary["decided"] == summary["tuples"] - 6  # those wait for a marker
    reasons = [row[2] for row in read_output(tmp_path / "out", "rejects")]
    assert sorted(map(str, reasons)) == [
        "s.k is outside its declared domain",
        "s.ts is NULL",
        "s.ts lies between two steps",
    ]


def test_a_changed_query_or_half_a_checkpoint_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    options = RunOptions(tmp_path / "check", tmp_path / "out", once=True, progress=False)
    run_queries(workspace, compiled, options, spark)
    (tmp_path / "matches.sql").write_text(QUERIES["matches"] + " AND s.a > 3")
    changed = [workspace.compile_sql(tmp_path / "matches.sql")]
    with pytest.raises(UsageError, match="another run"):
        run_queries(workspace, changed, options, spark)
    os.rename(tmp_path / "check" / "spark", tmp_path / "gone")
    with pytest.raises(UsageError, match="do not belong together"):
        run_queries(workspace, compiled, options, spark)
    os.rename(tmp_path / "gone", tmp_path / "check" / "spark")
    assert run_queries(workspace, compiled, options, spark)["tuples"] == 0


def test_a_run_has_a_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 1)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    with pytest.raises(UsageError, match="there is no checkpoint"):
        run_queries(workspace, compiled, RunOptions(None, tmp_path / "out", once=True), spark)
    assert not (tmp_path / "out").exists()


def test_an_unbounded_query_does_not_run(spark: SparkSession, tmp_path: Path) -> None:
    workspace, _ = open_queries(tmp_path, [])
    (tmp_path / "bad.sql").write_text("SELECT s.k FROM s, u WHERE s.ts < u.ts AND s.a < u.b")
    options = RunOptions(tmp_path / "check", tmp_path / "out", once=True, progress=False)
    with pytest.raises(QueryError, match="unbounded"):
        run_queries(workspace, [workspace.compile_sql(tmp_path / "bad.sql")], options, spark)
    assert not (tmp_path / "check").exists()
