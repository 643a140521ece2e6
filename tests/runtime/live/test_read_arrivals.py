"""Files read in this process beside what Spark reads, across restarts, and its log of files."""

import json
import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import OntoweirError, RunError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live.arrivals.list_arrivals import list_arrivals
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from tests.runtime.live.test_run_live import open_queries, read_output, write_history

TOML = """
[streams.s]
source = {{ format = "parquet", path = "{0}/s" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 9
keys = [["i", "ts"]]
[streams.s.columns]
i = {{ type = "int", min = 0, max = 4 }}
f = "double"
t = "string"
b = "boolean"
d = "date"
w = "timestamp"
{1}
"""
SQL = "SELECT s.i, s.f, s.t, s.b, s.d, s.w FROM s WHERE s.i >= 0"
ROWS = 12


def make_table(random: Random, first: int, **changed: Any) -> pa.Table:
    """Rows that keep what is declared, and some that do not."""
    start = first * ROWS
    us = [1_000_000 * (start + n) for n in range(ROWS)]
    cells: dict[str, Any] = {
        "ts": pa.array(us, pa.timestamp("us", "UTC")),
        "i": pa.array([random.choice([0, 1, 2, 3, 4, 9, None]) for _ in us], pa.int64()),
        "f": pa.array([random.choice([0.5, -1e300, float("nan"), None]) for _ in us]),
        "t": pa.array([random.choice(["", "é", "long " * 9, None]) for _ in us]),
        "b": pa.array([random.choice([True, False, None]) for _ in us]),
        "d": pa.array([date(1500 + n, 1, 1) for n in range(ROWS)]),
        "w": pa.array([datetime(1890 + 9 * n, 1, 1, tzinfo=UTC) for n in range(ROWS)]),
    }
    return pa.table({**cells, **changed})


Change = Callable[[pa.Table], pa.Table]
CHANGES: dict[str, Change] = {
    "as declared": lambda table: table,
    "narrow": lambda table: table.set_column(1, "i", table.column("i").cast(pa.int16())),
}


def write(folder: Path, tables: list[pa.Table], mark: str = " ü") -> None:
    (folder / "s").mkdir(parents=True)
    for number, table in enumerate(tables):
        file = folder / "s" / f"{number:03d}{mark}.parquet"
        pq.write_table(table, file)
        os.utime(file, (1000 + number, 1000 + number))


def open_query(folder: Path, toml: str = "") -> tuple[Workspace, list[Any]]:
    (folder / "ontoweir.toml").write_text(TOML.format(folder, toml))
    (folder / "q.sql").write_text(SQL)
    workspace = Workspace(load_project(folder, environ={}))
    return workspace, [workspace.compile_sql(folder / "q.sql")]


def outcome(folder: Path, spark: SparkSession, check: str) -> Any:
    """Answers and rejected rows, or that the run stopped."""
    workspace, compiled = open_query(folder)
    options = RunOptions(folder / check, folder / f"{check}-out", once=True, progress=False)
    try:
        summary = run_queries(workspace, compiled, options, spark)
    except OntoweirError as error:
        return type(error).__name__
    found = {name: read_output(folder / f"{check}-out", name) for name in ("q", "rejects")}
    return {**found, **{n: summary[n] for n in ("tuples", "markers", "late", "rejects")}}


@pytest.mark.parametrize("change", ["as declared", "narrow"])
def test_names_that_spark_takes_for_patterns(
    spark: SparkSession, tmp_path: Path, change: str
) -> None:
    """Spark would read each of three such files three times: they are read one by one."""
    tables = [make_table(Random(n), n) for n in range(3)]
    write(tmp_path, [tables[0], CHANGES[change](tables[1]), tables[2]], "[1]{a,b}")
    assert outcome(tmp_path, spark, "direct")["tuples"] == 3 * ROWS


@pytest.mark.parametrize("jsons", ["s", "u"])
def test_beside_a_stream_that_spark_reads(spark: SparkSession, tmp_path: Path, jsons: str) -> None:
    """One stream of Parquet, one of JSON: each comes as it should, across a restart."""

    def open_mixed() -> tuple[Workspace, list[Any]]:
        open_queries(tmp_path, ["matches"])
        text = (tmp_path / "ontoweir.toml").read_text()
        parquet = f'format = "parquet", path = "{tmp_path}/{jsons}"'
        assert parquet in text
        text = text.replace(parquet, parquet.replace("parquet", "json", 1))
        (tmp_path / "ontoweir.toml").write_text(text)
        workspace = Workspace(load_project(tmp_path, environ={}))
        return workspace, [workspace.compile_sql(tmp_path / "matches.sql")]

    def write_some(first: int, last: int) -> None:
        write_history(tmp_path, first, last)
        for file in sorted((tmp_path / jsons).glob("*.parquet")):
            rows = pq.read_table(file).to_pylist()
            text = "\n".join(json.dumps({**r, "ts": r["ts"].isoformat()}) for r in rows)
            place = file.with_suffix(".json")
            place.write_text(text)
            os.utime(place, ns=(file.stat().st_mtime_ns, file.stat().st_mtime_ns))
            file.unlink()

    write_some(0, 3)
    workspace, compiled = open_mixed()
    options = RunOptions(tmp_path / "check", tmp_path / "out", once=True, progress=False)
    assert run_queries(workspace, compiled, options, spark)["tuples"] == 90
    write_some(3, 5)
    assert run_queries(workspace, compiled, options, spark)["tuples"] == 60
    whole = RunOptions(tmp_path / "check2", tmp_path / "out2", once=True, progress=False)
    assert run_queries(workspace, compiled, whole, spark)["tuples"] == 150
    found = read_output(tmp_path / "out", "matches")
    assert found == read_output(tmp_path / "out2", "matches")
    assert found


def test_a_log_of_files_is_read_as_spark_does(tmp_path: Path) -> None:
    """Entries since the micro-batch before, also where one was logged before a crash; every tenth
    repeats the others."""

    def entry(number: int, *names: str) -> list[str]:
        return [
            f'{{"path":"file:///d/{n}%20x","timestamp":{ord(n)},"batchId":{number}}}' for n in names
        ]

    def put(file: str, lines: list[str]) -> None:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("\n".join(["v1", *lines]))

    put("sources/1/0", entry(0, "b", "a"))
    put("sources/1/1", entry(1, "c"))
    put("sources/1/2.compact", [*entry(0, "b", "a"), *entry(1, "c"), *entry(2, "d")])
    put("offsets/0", ["{}", "-", "-"])
    put("offsets/1", ["{}", '{"logOffset":7}', '{"logOffset":0}'])
    put("offsets/2", ["{}", '{"logOffset":7}', '{"logOffset":2}'])
    put("offsets/3", ["{}", '{"logOffset":8}', '{"logOffset":2}'])
    found = [[f.path for f in list_arrivals(SparkFolder(tmp_path), 1, batch)] for batch in range(4)]
    assert found == [[], ["/d/a x", "/d/b x"], ["/d/c x", "/d/d x"], []]
    put("offsets/4", ["{}", '{"logOffset":8}', '{"logOffset":3}'])
    with pytest.raises(RunError, match="not as expected"):
        list_arrivals(SparkFolder(tmp_path), 1, 4)
    (tmp_path / "offsets" / "3").write_text("v9\n")
    with pytest.raises(RunError, match="not as expected"):
        list_arrivals(SparkFolder(tmp_path), 1, 3)
