"""Serving a registry: entries come and go, fail and are replaced, and the others go on."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import RunError, UsageError
from ontoweir.files.hold_lock import hold_lock
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.registry.drop_query import drop_query
from ontoweir.registry.entry_status import read_status
from ontoweir.registry.list_entries import find_entry
from ontoweir.registry.register_query import QueryText, register_query
from ontoweir.registry.serving import serve_registry
from ontoweir.registry.share_intake import open_shared
from ontoweir.registry.start_entry import prepare_entry
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from tests.runtime.live.test_run_live import (
    QUERIES,
    open_queries,
    read_output,
    replayed,
    write_history,
)
from tests.waiting import HANG_TIMEOUT, wait_until

HERE = Path(__file__).parent.parent


def register(folder: Path, name: str, text: str | None = None, *, replace: bool = False) -> None:
    workspace = Workspace(load_project(folder, environ={}))
    text = QUERIES[name] if text is None else text
    file = f"{name}.sql"
    query = QueryText(name, "sql", text, file)
    register_query(workspace, folder / "registry", query, replace=replace)


def serve(
    folder: Path,
    spark: SparkSession,
    stop: threading.Event | None = None,
    told: Callable[[str], None] = lambda text: None,
    **more: Any,
) -> dict[str, Any]:
    options = RunOptions(None, folder / "out", once=stop is None, progress=False, **more)
    return serve_registry(
        lambda: Workspace(load_project(folder, environ={})),
        folder / "registry",
        options,
        spark,
        stop,
        on_event=told,
    )


@contextmanager
def serving(folder: Path, spark: SparkSession) -> Iterator[threading.Thread]:
    """Serve in a thread, until the block is left."""
    stop = threading.Event()
    thread = threading.Thread(target=serve, args=(folder, spark, stop))
    thread.start()
    try:
        yield thread
    finally:
        stop.set()
        thread.join()


def status(folder: Path, name: str) -> dict[str, Any]:
    registry = folder / "registry"
    return read_status(registry, find_entry(registry, name))


def test_entries_are_answered_side_by_side_across_restarts(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, list(QUERIES))
    for name in QUERIES:
        register(tmp_path, name)
    register(tmp_path, "again", "SELECT * FROM matches")
    first = serve(tmp_path, spark)
    assert {s["state"] for s in first["queries"].values()} == {"stopped"}
    assert first["tuples"] == 2 * 30 * (len(QUERIES) + 1)  # each reads for itself
    write_history(tmp_path, 2, 4)
    second = serve(tmp_path, spark)
    assert second["tuples"] == 2 * 30 * (len(QUERIES) + 1)
    assert read_output(tmp_path / "out", "again") == read_output(tmp_path / "out", "matches")
    for query in compiled:
        found = read_output(tmp_path / "out", query.name)
        assert found == replayed(tmp_path, workspace, query, spark)
        held = status(tmp_path, query.name)
        assert held["results"] == len(found)
        assert held["state_rows"] <= held["bound_rows"]
        assert held["tuples"] == 4 * 30
    assert serve(tmp_path, spark)["tuples"] == 0


def test_one_is_added_one_dropped_one_replaced_and_one_is_not_touched(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ontoweir.registry.drop_query._PATIENCE", HANG_TIMEOUT)
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, list(QUERIES))
    by_name = {query.name: query for query in compiled}
    register(tmp_path, "matches")
    register(tmp_path, "better")
    registry = tmp_path / "registry"
    with serving(tmp_path, spark) as server:

        def wait_for(name: str, tuples: int) -> None:
            wait_until(lambda: status(tmp_path, name)["tuples"] == tuples, server.is_alive)

        wait_for("matches", 60)
        wait_for("better", 60)
        untouched = status(tmp_path, "matches")["started"]
        register(tmp_path, "sums")
        wait_for("sums", 60)
        drop_query(registry, "better", purge=True)  # waits until it has stopped
        assert not (registry / "better").exists()
        assert not (tmp_path / "out" / "better").exists()
        other = QUERIES["sums"].replace("SUM(s.a)", "MIN(s.a)")
        register(tmp_path, "sums", other, replace=True)
        wait_for("sums", 60)
        assert status(tmp_path, "matches")["started"] == untouched
        with pytest.raises(UsageError, match="another process serves"):
            serve(tmp_path, spark)
        write_history(tmp_path, 2, 3)
        for name in ("matches", "sums"):
            wait_for(name, 90)
    assert {status(tmp_path, n)["state"] for n in ("matches", "sums")} == {"stopped"}
    (tmp_path / "sums.sql").write_text(other)
    by_name["sums"] = workspace.compile_sql(tmp_path / "sums.sql")
    for name in ("matches", "sums"):
        found = read_output(tmp_path / "out", name)
        assert found == replayed(tmp_path, workspace, by_name[name], spark)
    # the answers of the query that was replaced are kept, elsewhere
    assert len(list((tmp_path / "out").glob("sums-until-*"))) == 1


def test_one_fails_and_the_others_go_on(spark: SparkSession, tmp_path: Path) -> None:
    """Among the answers of one there is a file of another run; the other goes on."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    register(tmp_path, "matches")
    register(tmp_path, "better")
    serve(tmp_path, spark)
    theirs = pa.table({"a": [1]}).replace_schema_metadata({"ontoweir.run": "another"})
    pq.write_table(theirs, tmp_path / "out" / "better" / "part-000000000999.parquet")
    write_history(tmp_path, 2, 3)
    with pytest.raises(RunError, match="1 of 2 registered queries failed"):
        serve(tmp_path, spark)
    failed = status(tmp_path, "better")
    assert failed["state"] == "failed"
    assert "part-000000000999.parquet is of another run" in failed["error"]
    assert status(tmp_path, "matches")["tuples"] == 90
    assert read_output(tmp_path / "out", "matches") == replayed(
        tmp_path, workspace, compiled[0], spark
    )
    # it is mended by registering it anew
    register(tmp_path, "better", replace=True)
    assert serve(tmp_path, spark)["queries"]["better"]["tuples"] == 90


def test_answers_of_another_run_are_not_taken_for_ones_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A new checkpoint numbers its micro-batches anew: a file of that number is another's."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    options = RunOptions(tmp_path / "one", tmp_path / "out", once=True, progress=False)
    run_queries(workspace, compiled, options, spark)
    again = RunOptions(tmp_path / "two", tmp_path / "out", once=True, progress=False)
    with pytest.raises(UsageError, match="has files of another run"):
        run_queries(workspace, compiled, again, spark)
    register(tmp_path, "matches")
    with pytest.raises(RunError, match="has files of another run"):
        serve(tmp_path, spark)
    (tmp_path / "out" / "matches").rename(tmp_path / "theirs")  # as it says
    assert serve(tmp_path, spark)["tuples"] == 60
    assert read_output(tmp_path / "out", "matches") == replayed(
        tmp_path, workspace, compiled[0], spark
    )


def test_a_checkpoint_has_one_run(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 1)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    options = RunOptions(tmp_path / "check", tmp_path / "out", once=True, progress=False)
    lock = hold_lock(tmp_path / "check")
    assert lock is not None
    with pytest.raises(UsageError, match="another process runs from"):
        run_queries(workspace, compiled, options, spark)
    lock.release()
    assert run_queries(workspace, compiled, options, spark)["tuples"] == 30


def test_an_unbounded_entry_runs_with_leave(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 1)
    workspace, _ = open_queries(tmp_path, [])
    text = "SELECT s.k FROM s, u WHERE s.ts < u.ts AND s.a < u.b"
    register_query(
        workspace,
        tmp_path / "registry",
        QueryText("grows", "sql", text, "grows.sql"),
        allow_unbounded=True,
    )
    register(tmp_path, "matches")
    serve(tmp_path, spark)
    grown = status(tmp_path, "grows")
    assert (grown["state"], grown["verdict"], grown["bound_rows"]) == ("stopped", "unbounded", None)
    assert grown["state_rows"] > 0
    assert status(tmp_path, "matches")["tuples"] == 30


def _start(folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, str(HERE / "serve_driver.py"), str(folder), "on"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _has_read(folder: Path, tuples: int) -> bool:
    held = status(folder, "matches")
    return bool(held["state"] == "running" and held["tuples"] >= tuples)


def _wait_for(server: "subprocess.Popen[str]", reached: Callable[[], bool]) -> None:
    wait_until(reached, lambda: server.poll() is None)


@pytest.mark.slow
def test_killed_while_serving_one_dropped_one_added(spark: SparkSession, tmp_path: Path) -> None:
    """kill -9 of the server, twice; meanwhile the registry changes. Then as if nothing happened."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, list(QUERIES))
    register(tmp_path, "matches")
    register(tmp_path, "better")
    for hours in (3, 5):
        with _start(tmp_path) as server:
            # as soon as one of its first answers is there: somewhere in its work
            _wait_for(server, lambda: any((tmp_path / "out").rglob("part-*")))
            write_history(tmp_path, hours - 1, hours + 1)
            _wait_for(server, partial(_has_read, tmp_path, 30 * hours))
            os.kill(server.pid, 9)
            server.wait()
        assert status(tmp_path, "matches")["state"] == "died"
        if hours == 3:
            drop_query(tmp_path / "registry", "better")
            register(tmp_path, "sums")
    summary = serve(tmp_path, spark)
    assert set(summary["queries"]) == {"matches", "sums"}
    whole = tmp_path / "whole"
    whole.mkdir()
    for query in compiled:
        if query.name in summary["queries"]:
            found = read_output(tmp_path / "out", query.name)
            assert found == replayed(tmp_path, workspace, query, spark)
            numbers = [f.name for f in sorted((tmp_path / "out" / query.name).glob("part-*"))]
            assert len(numbers) == len(set(numbers))
    register(tmp_path, "better")  # goes on with the state that it had
    serve(tmp_path, spark)
    better = next(q for q in compiled if q.name == "better")
    assert read_output(tmp_path / "out", "better") == replayed(tmp_path, workspace, better, spark)


def test_a_status_file_is_json_and_whole(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 1)
    open_queries(tmp_path, [])
    register(tmp_path, "matches")
    serve(tmp_path, spark)
    folder = tmp_path / "registry" / "matches"
    held = json.loads((folder / "status.json").read_text())
    assert held["synopses"][0].keys() >= {"synopsis", "rows", "bound_rows"}
    assert held["streams"].keys() == {"s", "u"}
    assert not [f for f in folder.iterdir() if f.name.startswith(".")]
    assert (folder / "metrics.jsonl").exists()


def test_a_stream_that_is_new_to_the_server(spark: SparkSession, tmp_path: Path) -> None:
    """Spark goes on from a folder with one more source; the others miss nothing."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    only_s = "SELECT s.k FROM s WHERE s.a > 50"
    register(tmp_path, "first", only_s)
    serve(tmp_path, spark)
    register(tmp_path, "matches")  # reads u, too
    write_history(tmp_path, 2, 3)
    assert serve(tmp_path, spark)["queries"]["matches"]["tuples"] == 90
    write_history(tmp_path, 3, 4)
    assert serve(tmp_path, spark)["queries"]["first"]["tuples"] == 60
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, workspace, compiled[0], spark)
    rows = [r for f in (tmp_path / "s").iterdir() for r in pq.read_table(f).to_pylist()]
    last = max(row["ts"] for row in rows)
    expected = sorted((r["k"], r["ts"]) for r in rows if r["a"] > 50 and r["ts"] < last)
    assert sorted(row[:2] for row in read_output(tmp_path / "out", "first")) == expected


def test_files_that_are_gone_are_forgotten(spark: SparkSession, tmp_path: Path) -> None:
    """A server goes on from new logs; a query that was away then cannot."""
    write_history(tmp_path, 0, 3)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    register(tmp_path, "matches")
    register(tmp_path, "better")
    serve(tmp_path, spark)
    drop_query(tmp_path / "registry", "better")
    shared = open_shared(tmp_path / "registry", spark, RunOptions(None, tmp_path / "out"))
    workspace = Workspace(load_project(tmp_path, environ={}))
    streams = workspace.project.catalog.streams
    entry = find_entry(tmp_path / "registry", "matches")
    options = RunOptions(None, tmp_path / "out")
    running = prepare_entry(workspace, tmp_path / "registry", entry, spark, options)
    shared.join(running, streams)
    shared.run.begin(streams)
    shared.run.forget, shared.run.looked = 4, 0.0
    shared.run.rotate(streams)
    assert shared.run.intake.record.spark.folder == "spark-1"
    shared.stop()
    register(tmp_path, "better")
    write_history(tmp_path, 3, 4)
    with pytest.raises(RunError, match=r"better: .* cannot go on where it stopped"):
        serve(tmp_path, spark)
    assert status(tmp_path, "matches")["tuples"] == 120
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, workspace, compiled[0], spark)
    register(tmp_path, "better", replace=True)
    assert serve(tmp_path, spark)["queries"]["better"]["tuples"] == 120


def test_a_file_that_cannot_be_read_fails_who_reads_it(spark: SparkSession, tmp_path: Path) -> None:
    """Who does not read it goes on; mended, the others go on where they were."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    register(tmp_path, "matches")
    register(tmp_path, "only", "SELECT s.k FROM s WHERE s.a > 50")
    serve(tmp_path, spark)
    write_history(tmp_path, 2, 3)
    whole = (tmp_path / "u" / "002.parquet").read_bytes()
    (tmp_path / "u" / "002.parquet").write_bytes(whole[:100])
    with pytest.raises(RunError, match=r"1 of 2 .* matches: .*002.parquet of u cannot be taken in"):
        serve(tmp_path, spark)
    assert status(tmp_path, "matches")["state"] == "failed"
    assert status(tmp_path, "matches")["tuples"] == 60
    assert (status(tmp_path, "only")["state"], status(tmp_path, "only")["tuples"]) == (
        "stopped",
        45,
    )
    (tmp_path / "u" / "002.parquet").write_bytes(whole)
    assert serve(tmp_path, spark)["queries"]["matches"]["tuples"] == 90
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, workspace, compiled[0], spark)


def test_a_file_in_quarantine_is_counted_by_each_query(spark: SparkSession, tmp_path: Path) -> None:
    """Also by one that was away when the file was moved."""
    write_history(tmp_path, 0, 2)
    open_queries(tmp_path, ["matches"])
    toml = tmp_path / "ontoweir.toml"
    quarantine = '[streams.u]\non_bad_file = "quarantine"\n'
    toml.write_text(toml.read_text().replace("[streams.u]\n", quarantine))
    register(tmp_path, "matches")
    register(tmp_path, "better")
    serve(tmp_path, spark)
    drop_query(tmp_path / "registry", "better")
    write_history(tmp_path, 2, 4)
    (tmp_path / "u" / "002.parquet").write_bytes(b"PAR1")
    assert serve(tmp_path, spark)["queries"]["matches"]["rejected"] == 1
    assert not (tmp_path / "u" / "002.parquet").exists()
    moved = tmp_path / "registry" / ".intake" / "quarantine" / "u" / "002.parquet"
    assert moved.read_bytes() == b"PAR1"
    register(tmp_path, "better")
    queries = serve(tmp_path, spark)["queries"]
    assert [queries[n]["rejected"] for n in ("matches", "better")] == [1, 1]
    assert [queries[n]["tuples"] for n in ("matches", "better")] == [105, 105]


def test_a_first_file_that_cannot_be_read_is_put_aside(spark: SparkSession, tmp_path: Path) -> None:
    """Nobody looks for columns in it before it is read."""
    write_history(tmp_path, 0, 2)
    open_queries(tmp_path, ["matches"])
    toml = tmp_path / "ontoweir.toml"
    quarantine = '[streams.u]\non_bad_file = "quarantine"\n'
    toml.write_text(toml.read_text().replace("[streams.u]\n", quarantine))
    for file in (tmp_path / "u").iterdir():
        file.write_bytes(b"PAR1")
    register(tmp_path, "matches")
    assert serve(tmp_path, spark)["queries"]["matches"]["rejected"] == 2
    assert not list((tmp_path / "u").iterdir())
