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
    """The answers are a replay's; a run goes on with the parts that it has, and with no others."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, list(QUERIES))
    first = run_queries(workspace, compiled, _options(tmp_path, parts=3), spark)
    told = "in 3 parts on Spark's executors: as it was asked for"
    assert first["engines"] == dict.fromkeys(QUERIES, told)
    write_history(tmp_path, 2, 4)
    second = run_queries(workspace, compiled, _options(tmp_path), spark)
    told = "in 3 parts on Spark's executors: as in the checkpoint"
    assert second["engines"] == dict.fromkeys(QUERIES, told)
    for query in compiled:
        found = read_output(tmp_path / "out", query.name)
        assert found == replayed(tmp_path, workspace, query, spark)
    assert 0 < second["state_rows_max"] <= second["bound_rows"]
    for other in ({"engine": "driver"}, {"parts": 2}, {"engine": "spark", "parts": 4}):
        with pytest.raises(UsageError, match="has the state of matches in 3 parts"):
            run_queries(workspace, compiled, _options(tmp_path, **other), spark)
    for file in (tmp_path / "check" / "parts").glob("*.part"):
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    write_history(tmp_path, 4, 5)
    with pytest.raises(UsageError, match="the state of a part is damaged"):
        run_queries(workspace, compiled, _options(tmp_path), spark)


def test_a_run_in_the_driver_stays_there(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 1)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    summary = run_queries(workspace, compiled, _options(tmp_path), spark)
    assert summary["engines"]["matches"].startswith("in the driver: its bound is ")
    with pytest.raises(UsageError, match="has the state of matches in the driver"):
        run_queries(workspace, compiled, _options(tmp_path, engine="spark"), spark)


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
