"""Registered queries whose state is divided by key run by themselves, and answer as the others."""

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.registry.serving import serve_registry
from ontoweir.run.run_options import RunOptions
from tests.runtime.live.test_run_live import open_queries, read_output, replayed, write_history
from tests.runtime.live.test_serving import register, status


def serve(folder: Path, spark: SparkSession, **asked: Any) -> list[str]:
    """Serve what is there: what the server says."""
    said: list[str] = []
    serve_registry(
        lambda: Workspace(load_project(folder, environ={})),
        folder / "registry",
        RunOptions(None, folder / "out", once=True, progress=False, **asked),
        spark,
        on_event=said.append,
    )
    return said


def is_alone(folder: Path, name: str) -> bool:
    return (folder / "registry" / name / "checkpoint" / "commits").exists()


def test_registered_queries_are_divided_and_put_together(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, ["sums"])
    for query in compiled:
        register(tmp_path, query.name)
    said = serve(tmp_path, spark, engine="spark", parts=2)
    assert sum("in 2 parts on Spark's executors: as it was asked for" in s for s in said) == 1
    assert all(is_alone(tmp_path, query.name) for query in compiled)
    asked: list[dict[str, Any]] = [{"parts": 3}, {"engine": "driver"}]
    for hour, more in enumerate(asked, 2):
        write_history(tmp_path, hour, hour + 1)
        said = serve(tmp_path, spark, **more)
        assert any("in 3 parts" in s for s in said) is (hour == 2)
        for query in compiled:
            found = read_output(tmp_path / "out", query.name)
            assert found == replayed(tmp_path, workspace, query, spark)
            assert status(tmp_path, query.name)["results"] == len(found)


def test_a_state_that_is_with_others_stays_there_until_it_is_replaced(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Twin: it would begin anew, and answer twice."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = open_queries(tmp_path, ["sums"])
    register(tmp_path, "sums")
    assert not any("parts" in s for s in serve(tmp_path, spark))
    write_history(tmp_path, 2, 3)
    said = serve(tmp_path, spark, engine="spark", parts=2)
    assert any("to have it divided, from an empty state" in s for s in said)
    assert not is_alone(tmp_path, "sums")
    found = read_output(tmp_path / "out", "sums")
    assert found == replayed(tmp_path, workspace, compiled[0], spark)
    register(tmp_path, "sums", replace=True)
    said = serve(tmp_path, spark, engine="spark", parts=2)
    assert any("in 2 parts" in s for s in said)
    assert is_alone(tmp_path, "sums")
    again = read_output(tmp_path / "out", "sums")
    assert again == found
