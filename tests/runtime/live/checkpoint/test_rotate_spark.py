"""Files that are gone are forgotten: Spark's logs do not grow with all files ever read."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import RunError
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live import live_options
from ontoweir.runtime.live import process_batches as take_batches
from ontoweir.runtime.live.checkpoint.rotate_spark import count_entries
from ontoweir.runtime.live.checkpoint.save_state import commit_batch
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from tests.runtime.live.test_run_live import open_queries, read_output, replayed, write_history

IDLE = ('unit = "1 second"', 'unit = "1 second", idle = "1 hour"')


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that forget after eight files."""
    default = live_options.LiveOptions.__init__

    def few(self: Any, *given: Any, **more: Any) -> None:
        default(self, *given, **{**more, "forget": 8})

    monkeypatch.setattr(live_options.LiveOptions, "__init__", few)


def _run(folder: Path, spark: SparkSession) -> int:
    workspace, compiled = open_queries(folder, ["matches", "sums"])
    options = RunOptions(folder / "check", folder / "out", once=True, progress=False)
    return int(run_queries(workspace, compiled, options, spark)["tuples"])


def _move_away(folder: Path, kept: int) -> None:
    """All but the last files of each stream, to where a replay finds them."""
    for name in ("s", "u"):
        (folder / "all" / name).mkdir(parents=True, exist_ok=True)
        files = sorted((folder / name).iterdir())
        for file in files:
            shutil.copy2(file, folder / "all" / name)
        for file in files[: len(files) - kept]:
            file.unlink()


def _compare(folder: Path, spark: SparkSession) -> None:
    _move_away(folder, 0)
    workspace, compiled = open_queries(folder / "all", ["matches", "sums"])
    for query in compiled:
        expected = replayed(folder / "all", workspace, query, spark)
        assert read_output(folder / "out", query.name) == expected
        assert expected


def _logs(folder: Path) -> Path:
    (found,) = (folder / "check").glob("spark*")
    return found


@pytest.mark.usefixtures("forgetful")
def test_files_that_are_gone_are_forgotten_and_no_other(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Those that are there are not read again; the state goes on."""
    for part in range(4):
        write_history(tmp_path, 6 * part, 6 * part + 6)
        assert _run(tmp_path, spark) == 6 * 30
        _move_away(tmp_path, 1)
    assert _run(tmp_path, spark) == 0
    assert count_entries(SparkFolder(_logs(tmp_path))) <= 2 * 8
    assert _logs(tmp_path).name != "spark"
    _compare(tmp_path, spark)


@pytest.mark.usefixtures("forgetful")
def test_crashes_while_logs_are_renewed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the commit, and after it."""
    write_history(tmp_path, 0, 3)
    assert _run(tmp_path, spark) == 90
    write_history(tmp_path, 3, 6)
    commit = commit_batch
    crashes: list[str] = []

    def crash(*given: Any, **more: Any) -> Any:
        if given[2].spark.folder != "spark" and len(crashes) < 2:
            crashes.append("at the commit")
            if len(crashes) == 2:
                commit(*given, **more)
            raise RunError("a crash", why="for the test", fix="start again")
        return commit(*given, **more)

    monkeypatch.setattr(take_batches, "commit_batch", crash)
    for _ in range(2):
        with pytest.raises(RunError, match="a crash"):
            _run(tmp_path, spark)
    write_history(tmp_path, 6, 7)
    _run(tmp_path, spark)
    assert len(crashes) == 2
    _compare(tmp_path, spark)


@pytest.mark.usefixtures("forgetful")
def test_beside_a_stream_that_idles(spark: SparkSession, tmp_path: Path) -> None:
    """A source that is none of files goes on."""
    from tests.runtime.live.test_live_starts import _open
    from tests.runtime.live.test_live_starts import _run as run

    for part in range(3):
        write_history(tmp_path, 5 * part, 5 * part + 5)
        assert run(tmp_path, _open(tmp_path, IDLE), spark)["tuples"] == 5 * 30
    assert _logs(tmp_path).name != "spark"
    shutil.rmtree(tmp_path / "check" / "staged", ignore_errors=True)
    workspace, compiled = open_queries(tmp_path, ["matches"])
    expected = replayed(tmp_path, workspace, compiled[0], spark)
    assert read_output(tmp_path / "out", "matches") == expected
    assert os.listdir(_logs(tmp_path) / "sources")
