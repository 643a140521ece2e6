"""Live on Spark with state in its executors: stopped, resumed, damaged, on two workers, killed."""

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import UsageError
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from tests.runtime.live.test_run_live import (
    QUERIES,
    open_queries,
    read_output,
    replayed,
    write_history,
)
from tests.runtime.parts_driver import NAMES
from tests.runtime.replay.test_two_workers import drive


def _options(folder: Path, **more: object) -> RunOptions:
    given: dict[str, object] = {"once": True, "progress": False, **more}
    return RunOptions(folder / "check", folder / "out", **given)  # type: ignore[arg-type]


def test_divided_across_restarts(spark: SparkSession, tmp_path: Path) -> None:
    """The answers are a replay's; a run goes on with the parts that it has, or with those that are
    asked for."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, list(QUERIES))
    first = run_queries(workspace, compiled, _options(tmp_path, parts=3), spark)
    told = "in 3 parts on Spark's executors: as it was asked for"
    assert first["engines"] == dict.fromkeys(QUERIES, told)
    write_history(tmp_path, 2, 3)
    second = run_queries(workspace, compiled, _options(tmp_path), spark)
    told = "in 3 parts on Spark's executors: as in the checkpoint"
    assert second["engines"] == dict.fromkeys(QUERIES, told)
    assert 0 < second["state_rows_max"] <= second["bound_rows"]
    write_history(tmp_path, 3, 4)
    third = run_queries(workspace, compiled, _options(tmp_path, parts=2), spark)
    told = "in 2 parts on Spark's executors: as it was asked for; the checkpoint had it in 3 parts"
    assert third["engines"] == dict.fromkeys(QUERIES, told)
    for query in compiled:
        found = read_output(tmp_path / "out", query.name)
        assert found == replayed(tmp_path, workspace, query, spark)
    for file in (tmp_path / "check" / "parts").glob("*.part"):
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    write_history(tmp_path, 4, 5)
    for other in (None, 4):
        with pytest.raises(UsageError, match="the state of a part is damaged"):
            run_queries(workspace, compiled, _options(tmp_path, parts=other), spark)


def test_a_run_in_the_driver_stays_there_unless_asked(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 1)
    workspace, compiled = open_queries(tmp_path, ["matches"])

    def run(**more: object) -> str:
        told: str = run_queries(workspace, compiled, _options(tmp_path, **more), spark)["engines"][
            "matches"
        ]
        return told

    assert run().startswith("in the driver: its bound is ")
    assert run() == "in the driver: as in the checkpoint"
    assert run(engine="spark", parts=2).endswith("; the checkpoint had it in the driver")
    write_history(tmp_path, 1, 2)
    told = "in the driver: as it was asked for; the checkpoint had it in 2 parts"
    assert run(engine="driver") == told
    assert run() == "in the driver: as in the checkpoint"
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, workspace, compiled[0], spark)


@pytest.mark.slow
def test_two_workers_that_are_killed(root: Path, tmp_path: Path, spark: SparkSession) -> None:
    """On a cluster of two, whose Python workers are killed in the kernel, kill -9, twice a task."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, list(NAMES))
    told = drive(root, "tests.runtime.parts_driver", str(tmp_path))
    assert told["kills"] >= 8
    assert len(told["executors"]) == 2
    for query in compiled:
        found = read_output(tmp_path / "out", query.name)
        assert found == replayed(tmp_path, workspace, query, spark)
    assert os.listdir(tmp_path / "check" / "parts")
