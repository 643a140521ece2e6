"""Runs and servers whose streams have archives: their answers are those of a replay of both."""

import gzip
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError, RunError, UsageError
from ontoweir.registry.drop_query import drop_query
from ontoweir.registry.list_entries import find_entry
from ontoweir.registry.share_intake import open_shared
from ontoweir.registry.start_entry import prepare_entry
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live import run_intake
from ontoweir.runtime.live.archive import move_files
from ontoweir.runtime.live.parts import divide_queries
from tests.runtime.live.archive.archived_project import ARCHIVES, declare, replayed
from tests.runtime.live.test_run_live import TOML, read_output, write_history
from tests.runtime.live.test_serving import register, serve


def go(folder: Path, toml: str = ARCHIVES, check: str = "check", out: str = "out") -> Any:
    """Run what is there."""
    workspace, compiled = declare(folder, toml)
    options = RunOptions(folder / check, folder / out, once=True, progress=False)
    return run_queries(workspace, compiled, options, None)


def count(folder: Path) -> tuple[int, int]:
    """How many files are in the folders, and in the archives."""
    return len(list(folder.glob("[su]/0*"))), len(list(folder.glob("old/[su]/0*")))


def test_files_are_moved_and_are_the_history(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 2)
    go(tmp_path, TOML)
    assert count(tmp_path) == (4, 0)
    assert go(tmp_path)["tuples"] == 0  # an archive may be declared later
    assert count(tmp_path) == (0, 4)
    write_history(tmp_path, 2, 4)
    assert go(tmp_path)["tuples"] == 60
    assert count(tmp_path) == (0, 8)
    workspace, compiled = declare(tmp_path)
    for query in compiled:
        assert read_output(tmp_path / "out", query.name) == replayed(tmp_path, workspace, query)
    # a run that begins finds all in the archive, and the twin without it nothing
    with pytest.raises(UsageError, match="is the archive of another run"):
        go(tmp_path, check="check2", out="out2")
    shutil.rmtree(tmp_path / "check")
    assert go(tmp_path, check="check2", out="out2")["tuples"] == 120
    for query in compiled:
        found = read_output(tmp_path / "out2", query.name)
        assert found == read_output(tmp_path / "out", query.name)
    assert go(tmp_path, TOML, check="check3", out="out3")["tuples"] == 0
    with pytest.raises(DataError, match="there is no data"):
        replayed(tmp_path, declare(tmp_path, TOML, [])[0], compiled[0])


def test_queries_that_join_later_and_come_back(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 2)
    workspace, compiled = declare(tmp_path)
    register(tmp_path, "matches")
    register(tmp_path, "better")
    serve(tmp_path, spark)
    assert count(tmp_path) == (0, 4)
    drop_query(tmp_path / "registry", "better")
    write_history(tmp_path, 2, 4)
    serve(tmp_path, spark)
    assert count(tmp_path) == (0, 8)  # one that is dropped holds nothing back
    register(tmp_path, "sums")
    register(tmp_path, "better")
    write_history(tmp_path, 4, 5)
    serve(tmp_path, spark)
    assert count(tmp_path) == (0, 10)
    for query in compiled:
        assert read_output(tmp_path / "out", query.name) == replayed(tmp_path, workspace, query)
    register(tmp_path, "again", "SELECT s.k, COUNT(*) AS n FROM s GROUP BY s.k")
    with pytest.raises(RunError, match=r"again: .* of another run.* without --engine"):
        serve(tmp_path, spark, engine="spark", parts=2)  # it runs by itself
    assert serve(tmp_path, spark)["queries"]["again"]["error"] is None  # the way out
    # a server that begins anew, and finds the folders empty
    for place in ("registry", "out"):
        shutil.rmtree(tmp_path / place)
    register(tmp_path, "sums")
    serve(tmp_path, spark)
    (sums,) = [query for query in compiled if query.name == "sums"]
    assert read_output(tmp_path / "out", "sums") == replayed(tmp_path, workspace, sums)


GROUPS = "SELECT s.k, COUNT(*) AS n FROM s GROUP BY s.k"


def test_a_query_by_itself_does_not_end_the_others(spark: SparkSession, tmp_path: Path) -> None:
    """It moves the files of its stream: those that would read them are refused, one by one."""
    write_history(tmp_path, 0, 2)
    declare(tmp_path)
    register(tmp_path, "again", GROUPS)
    serve(tmp_path, spark, engine="spark", parts=2)
    assert count(tmp_path) == (2, 2)
    register(tmp_path, "matches")  # of both streams
    register(tmp_path, "counts", "SELECT u.k, u.b FROM u WHERE u.b > 50")
    write_history(tmp_path, 2, 3)
    with pytest.raises(RunError, match=r"1 of 3 .* matches: .* do without --engine"):
        serve(tmp_path, spark)
    assert count(tmp_path) == (0, 6)
    drop_query(tmp_path / "registry", "again", purge=True)
    shutil.rmtree(tmp_path / "old" / "s" / ".ontoweir")
    serve(tmp_path, spark)
    workspace, compiled = declare(tmp_path, names=["matches"])
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, workspace, compiled[0])


def test_a_state_that_could_be_divided_is_with_the_others(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As --engine auto divides large ones: where files are moved to archives it does not."""
    monkeypatch.setattr(divide_queries, "_SHARE", 0.0)
    write_history(tmp_path, 0, 2)
    for toml, words in ((ARCHIVES, "and not divided"), (TOML, "it runs by itself")):
        declare(tmp_path, toml)
        told: list[str] = []
        register(tmp_path, "again", GROUPS, replace=toml == TOML)
        serve(tmp_path, spark, told=told.append)
        assert any(words in text for text in told), told


def test_spark_forgets_what_has_been_moved(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless a query may come back; one that is new then finds it in the archives."""
    monkeypatch.setattr(run_intake, "FORGOTTEN", 4)
    synced: list[Path] = []
    monkeypatch.setattr(move_files, "sync_file", synced.append)
    write_history(tmp_path, 0, 3)
    workspace, compiled = declare(tmp_path)
    registry, options = tmp_path / "registry", RunOptions(None, tmp_path / "out")
    register(tmp_path, "matches")
    register(tmp_path, "better")
    serve(tmp_path, spark)
    for away in (True, False):
        if away:
            drop_query(registry, "better")
        else:
            drop_query(registry, "better", purge=True)
        shared = open_shared(registry, spark, options)
        shared.forget_others()
        entry = find_entry(registry, "matches")
        running = prepare_entry(workspace, registry, entry, spark, options)
        shared.join(running, workspace.project.catalog.streams)
        shared.run.begin(workspace.project.catalog.streams)
        moved = shared.run.intake.keeper.touched
        moved.update((tmp_path / "s", tmp_path / "old" / "s"))  # they are not known to be synced
        shared.run.looked = 0.0
        shared.run.rotate(workspace.project.catalog.streams)
        forgot = shared.run.intake.record.spark.folder
        shared.stop()
        assert forgot == ("spark" if away else "spark-1")
        assert synced == ([] if away else [tmp_path / "old" / "s", tmp_path / "s"])
        if away:
            register(tmp_path, "better")
            serve(tmp_path, spark)
    register(tmp_path, "sums")
    write_history(tmp_path, 3, 4)
    serve(tmp_path, spark)
    assert count(tmp_path) == (0, 8)
    for query in compiled:
        if query.name != "better":
            assert read_output(tmp_path / "out", query.name) == replayed(tmp_path, workspace, query)


def test_a_file_that_cannot_be_read_stays(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 1)
    declare(tmp_path)
    register(tmp_path, "matches")
    register(tmp_path, "counts", "SELECT u.k, u.b FROM u WHERE u.b > 50")
    serve(tmp_path, spark)
    write_history(tmp_path, 1, 3)
    good = (tmp_path / "s" / "001.parquet").read_bytes()
    (tmp_path / "s" / "001.parquet").write_bytes(good[:100])
    os.utime(tmp_path / "s" / "001.parquet", (1001, 1001))
    with pytest.raises(RunError, match=r"001\.parquet of s cannot be taken in"):
        serve(tmp_path, spark)
    assert (tmp_path / "s" / "001.parquet").exists()
    assert not list((tmp_path / "u").glob("*"))
    (tmp_path / "s" / "001.parquet").write_bytes(good)
    os.utime(tmp_path / "s" / "001.parquet", (1001, 1001))
    serve(tmp_path, spark)
    assert count(tmp_path) == (0, 6)
    workspace, compiled = declare(tmp_path, names=["matches"])
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, workspace, compiled[0])


def test_packed_text_by_a_pattern(spark: SparkSession, tmp_path: Path) -> None:
    """CSV, some of it packed, in folders that a pattern names."""
    toml = ARCHIVES
    for name in "su":
        toml = toml.replace(
            f'format = "parquet", path = "{{0}}/{name}"',
            f'format = "csv", path = "{{0}}/{name}/0*"',
        )
    toml = toml.replace("options = {{ max", 'options = {{ header = "true", max')
    for first, last in ((0, 2), (2, 4)):
        write_history(tmp_path, first, last)
        for file in tmp_path.glob("[su]/*.parquet"):
            made = file.with_suffix(".csv")
            pcsv.write_csv(pq.read_table(file), made)
            if int(file.stem) % 2:
                made.with_suffix(".csv.gz").write_bytes(gzip.compress(made.read_bytes()))
                made.unlink()
                made = made.with_suffix(".csv.gz")
            shutil.copystat(file, made)
            file.unlink()
        assert go(tmp_path, toml)["tuples"] == 60
        assert count(tmp_path) == (0, 4 * last // 2)
    workspace, compiled = declare(tmp_path, toml)
    for query in compiled:
        assert read_output(tmp_path / "out", query.name) == replayed(tmp_path, workspace, query)
