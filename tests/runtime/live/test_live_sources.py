"""Live on Spark: the order of files, silence, JSON in and out, and what Spark's progress shows."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from tests.runtime.live.test_run_live import (
    QUERIES,
    TOML,
    open_queries,
    read_output,
    replayed,
    write_history,
)
from tests.waiting import wait_until


def _options(folder: Path, **more: Any) -> RunOptions:
    return RunOptions(folder / "check", folder / "out", once=True, progress=False, **more)


def test_files_of_one_modification_time_by_name(spark: SparkSession, tmp_path: Path) -> None:
    """A backlog copied within a millisecond, which its folder lists in any order."""
    write_history(tmp_path, 0, 8)
    for file in tmp_path.glob("*/*.parquet"):
        os.utime(file, (5000, 5000))
    empty = tmp_path / "s" / "005x.parquet"
    pq.write_table(pq.read_table(tmp_path / "s" / "005.parquet")[:0], empty)
    os.utime(empty, (5000, 5000))
    workspace, compiled = open_queries(tmp_path, list(QUERIES))
    summary = run_queries(workspace, compiled, _options(tmp_path), spark)
    assert (summary["tuples"], summary["rejected"]) == (8 * 30, 0)
    write_history(tmp_path, 8, 10)
    for file in tmp_path.glob("*/00[89].parquet"):
        os.utime(file, (6000, 6000))
    assert run_queries(workspace, compiled, _options(tmp_path), spark)["rejected"] == 0
    for query in compiled:
        found = read_output(tmp_path / "out", query.name)
        assert found == replayed(tmp_path, workspace, query, spark)


def test_a_file_that_looks_old_is_read(spark: SparkSession, tmp_path: Path) -> None:
    """Spark drops files that are a week older than the newest one it has seen; a run does not."""
    write_history(tmp_path, 0, 1)
    for file in tmp_path.glob("*/*.parquet"):
        os.utime(file, (90 * 86400, 90 * 86400))
    workspace, compiled = open_queries(tmp_path, ["matches"])
    run_queries(workspace, compiled, _options(tmp_path), spark)
    write_history(tmp_path, 1, 3)  # modified soon after 1970
    summary = run_queries(workspace, compiled, _options(tmp_path), spark)
    assert (summary["tuples"], summary["rejected"]) == (60, 0)


@pytest.mark.parametrize("option", ["latestFirst", "cleanSource"])
def test_options_that_do_not_go_with_a_live_run(
    option: str, spark: SparkSession, tmp_path: Path
) -> None:
    write_history(tmp_path, 0, 1)
    toml = TOML.format(tmp_path).replace("maxFilesPerTrigger", option)
    open_queries(tmp_path, ["matches"])
    (tmp_path / "ontoweir.toml").write_text(toml.replace('"1"', '"true"'))
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = [workspace.compile_sql(tmp_path / "matches.sql")]
    with pytest.raises(DataError, match=option):
        run_queries(workspace, compiled, _options(tmp_path), spark)


def _records(folder: Path) -> list[dict[str, Any]]:
    file = folder / "out" / "metrics.jsonl"
    return [json.loads(x) for x in file.read_text().splitlines()] if file.exists() else []


def test_silence_passes_without_another_row(spark: SparkSession, tmp_path: Path) -> None:
    """u says nothing: after its patience, by the clock, s goes on, although no row comes."""
    write_history(tmp_path, 0, 1)
    for file in (tmp_path / "u").glob("*"):
        rows = pq.read_table(file)
        pq.write_table(rows[:1], file)
    open_queries(tmp_path, ["matches"])
    toml = TOML.format(tmp_path).replace(
        'unit = "1 second" }', 'unit = "1 second", idle = "2 seconds" }'
    )
    (tmp_path / "ontoweir.toml").write_text(toml)
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = [workspace.compile_sql(tmp_path / "matches.sql")]
    stop = threading.Event()
    options = RunOptions(tmp_path / "check", tmp_path / "out", progress=False)

    def watch() -> None:
        wait_until(lambda: stop.is_set() or any(r["markers"] for r in _records(tmp_path)))
        stop.set()

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        summary = run_queries(workspace, compiled, options, spark, stop)
    finally:
        stop.set()
        watching.join()
    assert summary["markers"] > 1
    assert summary["rejected"] == 0


JSON = """
[streams.s]
source = {{ format = "json", path = "{0}/s" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 50
[streams.s.columns]
k = {{ type = "int", min = 0, max = 4 }}
"""


def test_json_in_and_out(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    lines = [{"ts": f"1970-01-01T00:00:0{n}Z", "k": n} for n in range(3)]
    text = "\n".join(json.dumps(x) for x in lines)
    (tmp_path / "s" / "a.json").write_text(text + "\n{broken\n" + '{"ts": "never", "k": 1}\n')
    (tmp_path / "ontoweir.toml").write_text(JSON.format(tmp_path))
    (tmp_path / "q.sql").write_text("SELECT s.k FROM s WHERE s.k > 0")
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = [workspace.compile_sql(tmp_path / "q.sql")]
    summary = run_queries(workspace, compiled, _options(tmp_path, sink="jsonl"), spark)
    assert summary["rejects"] == {"is not a JSON object": 1, "ts is not of its type": 1}
    written = [f.read_text() for f in (tmp_path / "out" / "q").glob("*.jsonl")]
    assert [json.loads(x) for x in "".join(written).splitlines()] == [
        {"k": 1, "multiplicity": 1, "at": "1970-01-01T00:00:01"}
    ]


def test_to_the_console(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    summary = run_queries(workspace, compiled, _options(tmp_path, sink="console"), spark)
    shown = [json.loads(x) for x in capsys.readouterr().out.splitlines()]
    assert len(shown) == summary["results"] > 0
    assert {"query", "batch", "k", "b", "multiplicity", "at"} == set(shown[0])


def test_sparks_progress_shows_what_came(spark: SparkSession, tmp_path: Path) -> None:
    """A listener is told what each stream brought."""
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
        StreamingQueryListener,
    )

    told: list[Any] = []
    done = threading.Event()

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: QueryStartedEvent) -> None: ...
        def onQueryIdle(self, event: QueryIdleEvent) -> None: ...

        def onQueryProgress(self, event: QueryProgressEvent) -> None:
            told.append(event.progress.observedMetrics["ontoweir"].asDict())

        def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
            done.set()

    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    run_queries(workspace, compiled, _options(tmp_path, listeners=(Listener(),)), spark)
    assert done.wait()
    assert sum(x["s_tuples"] for x in told) == sum(x["u_tuples"] for x in told) == 30
    assert all(x["s_bad"] == 0 for x in told)
