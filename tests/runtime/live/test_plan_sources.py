"""Streams that share a source of Spark: the same answers, also when a run goes on otherwise."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live.arrivals.list_partitions import list_waiting
from ontoweir.runtime.live.checkpoint.save_state import last_batch
from ontoweir.runtime.spark import call_without_rows, tune_session
from ontoweir.runtime.spark.start_session import LOCAL_FILES
from tests.runtime.live.test_read_arrivals import CHANGES
from tests.runtime.live.test_run_live import (
    TOML,
    open_queries,
    read_output,
    replayed,
    write_history,
)


def open_plain(folder: Path, names: list[str]) -> tuple[Workspace, list[Any]]:
    """As open_queries, with as many files in a micro-batch as by default."""
    _, compiled = open_queries(folder, names)
    text = TOML.format(folder).replace(', options = { maxFilesPerTrigger = "1" }', "")
    (folder / "ontoweir.toml").write_text(text)
    return Workspace(load_project(folder, environ={})), compiled


def run(folder: Path, spark: SparkSession, check: str = "check") -> int:
    workspace, compiled = open_plain(folder, ["matches", "sums"])
    options = RunOptions(folder / check, folder / f"{check}-out", once=True, progress=False)
    return int(run_queries(workspace, compiled, options, spark)["tuples"])


def shared(folder: Path) -> list[str]:
    """The streams that share a source, as the last commit says."""
    place = last_batch(folder / "commits")
    assert place is not None
    held = json.loads((place / "manifest.json").read_text())["record"]["sources"]
    return next((names for names in held if len(names) > 1), [])


def test_two_folders_share_a_source(spark: SparkSession, tmp_path: Path) -> None:
    for part in range(4):
        write_history(tmp_path, 2 * part, 2 * part + 2)
        assert run(tmp_path, spark) == 60
    assert shared(tmp_path / "check") == ["s", "u"]
    assert len(list((tmp_path / "check" / "spark" / "sources").iterdir())) == 1
    workspace, compiled = open_plain(tmp_path, ["matches", "sums"])
    for query in compiled:
        found = read_output(tmp_path / "check-out", query.name)
        assert found == replayed(tmp_path, workspace, query, spark)
        assert found


def test_a_run_goes_on_in_a_session_of_others(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which has not our source of folders, nor our sink: Spark's own go on from where they were."""
    for part in range(4):
        write_history(tmp_path, part, part + 1)
        with monkeypatch.context() as without:
            if part % 2 == 0:
                without.setattr(tune_session, "_OURS", "ontoweir.Absent")
                without.setattr(call_without_rows, "_OURS", "ontoweir.Absent")
            assert run(tmp_path, spark) == 30
    assert shared(tmp_path / "check") == ["s", "u"]
    workspace, compiled = open_plain(tmp_path, ["matches"])
    found = read_output(tmp_path / "check-out", "matches")
    assert found == replayed(tmp_path, workspace, compiled[0], spark)
    assert found


def test_a_long_history_is_read_side_by_side(spark: SparkSession, tmp_path: Path) -> None:
    """One source would hand out its files in the order of their times, stream after stream."""
    write_history(tmp_path, 0, 20)
    for hour in range(20):  # copied one stream after the other
        os.utime(tmp_path / "u" / f"{hour:03d}.parquet", (5000 + hour, 5000 + hour))
    assert run(tmp_path, spark) == 20 * 30
    assert shared(tmp_path / "check") == []
    assert len(list((tmp_path / "check" / "spark" / "sources").iterdir())) == 2
    workspace, compiled = open_plain(tmp_path, ["matches"])
    found = read_output(tmp_path / "check-out", "matches")
    assert found == replayed(tmp_path, workspace, compiled[0], spark)


def test_a_stream_in_the_folder_of_another_has_its_own_source(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Files are told apart by their folders."""
    write_history(tmp_path, 0, 2)
    (tmp_path / "u").rename(tmp_path / "s" / "_u")  # hidden from s
    workspace, compiled = open_plain(tmp_path, ["matches"])
    text = (tmp_path / "ontoweir.toml").read_text()
    text = text.replace(f'path = "{tmp_path}/u"', f'path = "{tmp_path}/s/_u"')
    (tmp_path / "ontoweir.toml").write_text(text)
    workspace = Workspace(load_project(tmp_path, environ={}))
    options = RunOptions(tmp_path / "check", tmp_path / "out", once=True, progress=False)
    assert run_queries(workspace, compiled, options, spark)["tuples"] == 60
    assert shared(tmp_path / "check") == []


def test_a_run_stays_as_it_began(spark: SparkSession, tmp_path: Path) -> None:
    """One that began side by side goes on so, when its folders have become small."""
    write_history(tmp_path, 0, 20)
    assert run(tmp_path, spark) == 600
    for folder in ("s", "u"):
        for file in (tmp_path / folder).iterdir():
            file.unlink()
    write_history(tmp_path, 20, 21)
    assert run(tmp_path, spark) == 30
    assert shared(tmp_path / "check") == []


def test_a_file_that_is_not_plain_among_shared_ones(spark: SparkSession, tmp_path: Path) -> None:
    """It is read by Spark, from the folder of its stream."""
    import pyarrow.parquet as pq

    write_history(tmp_path, 0, 2)
    file = tmp_path / "s" / "001.parquet"
    table = pq.read_table(file)
    small = table.set_column(1, "k", table.column("k").cast(pa.int32()))
    pq.write_table(small, file)
    os.utime(file, (1001, 1001))
    assert CHANGES  # the kinds of files there are
    assert run(tmp_path, spark) == 60
    assert shared(tmp_path / "check") == ["s", "u"]
    workspace, compiled = open_plain(tmp_path, ["matches"])
    found = read_output(tmp_path / "check-out", "matches")
    pq.write_table(table, file)
    assert found == replayed(tmp_path, workspace, compiled[0], spark)


def test_files_that_are_passed_are_not_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_history(tmp_path, 0, 6)
    workspace, _ = open_plain(tmp_path, [])
    stream = workspace.project.catalog.streams["s"]
    files = sorted(str(f) for f in (tmp_path / "s").iterdir())
    os.utime(files[3], (1002, 1002))
    passed: set[str] = set()
    assert list_waiting(stream, 1002_000, {files[2]}, passed)[0] == {files[3]}
    assert passed == set(files[:2])
    looked: list[str] = []
    stat = os.stat

    def counted(path: Any, **more: Any) -> Any:
        looked.append(str(path))
        return stat(path, **more)

    monkeypatch.setattr(os, "stat", counted)
    assert list_waiting(stream, 1004_000, {files[4]}, passed)[0] == frozenset()
    assert not set(files[:2]) & set(looked)
    assert {files[3], files[5]} <= set(looked)
    assert list_waiting(stream, 1005_000, (), passed)[0] == {files[5]}


def test_the_jar_is_the_source(root: Path, tmp_path: Path) -> None:
    """What is committed is what .ci/build_jar.sh makes of runtime/java."""
    import shutil
    import subprocess
    import sys

    sources = {file.stem for file in (root / "runtime" / "spark" / "java").glob("*.java")}
    classes = zipfile.ZipFile(LOCAL_FILES).namelist()
    assert {Path(name).stem.partition("$")[0] for name in classes} == sources
    if shutil.which("javac") is None:
        pytest.skip("NOT TESTED: there is no Java compiler here")
    made = tmp_path / "made.jar"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [str(root / ".ci" / "build_jar.sh"), str(made)]
    subprocess.run(command, check=True, env={**os.environ, "PATH": path})
    assert made.read_bytes() == LOCAL_FILES.read_bytes()
