"""Archives after a purge: of queries, of their owner, and of the files that they have."""

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import RunError, UsageError
from ontoweir.registry.drop_query import drop_query
from tests.runtime.live.archive.archived_project import declare, replayed
from tests.runtime.live.archive.test_archived_runs import count, go
from tests.runtime.live.test_run_live import read_output, write_history
from tests.runtime.live.test_serving import register, serve


def test_who_takes_over_after_a_purge_reads_all_of_the_archive(
    spark: SparkSession, tmp_path: Path
) -> None:
    """In the same registry, in another one, and as a run by itself; while the checkpoint of the
    one before is there, others are refused."""
    write_history(tmp_path, 0, 2)
    workspace, (matches,) = declare(tmp_path, names=["matches"])
    register(tmp_path, "matches")
    serve(tmp_path, spark)
    assert count(tmp_path) == (0, 4)
    drop_query(tmp_path / "registry", "matches", purge=True)
    write_history(tmp_path, 2, 3)
    with pytest.raises(UsageError, match=r"is the archive of another run.*intake"):
        go(tmp_path)
    serve(tmp_path, spark)  # of nothing
    register(tmp_path, "matches")
    serve(tmp_path, spark)
    assert count(tmp_path) == (0, 6)
    assert read_output(tmp_path / "out", "matches") == replayed(tmp_path, workspace, matches)
    drop_query(tmp_path / "registry", "matches", purge=True)
    shutil.rmtree(tmp_path / "registry")
    write_history(tmp_path, 3, 4)
    go(tmp_path)
    assert count(tmp_path) == (0, 8)
    assert read_output(tmp_path / "out", "matches") == replayed(tmp_path, workspace, matches)


def test_files_that_are_purged_are_missed(spark: SparkSession, tmp_path: Path) -> None:
    """By a query that comes back: it fails and names one, and goes on when it is there again."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = declare(tmp_path, names=["matches", "better"])
    register(tmp_path, "matches")
    register(tmp_path, "better")
    serve(tmp_path, spark)
    drop_query(tmp_path / "registry", "better")
    write_history(tmp_path, 2, 4)
    serve(tmp_path, spark)
    assert count(tmp_path) == (0, 8)
    (purged,) = tmp_path.glob("old/s/002*")
    purged.rename(tmp_path / "kept")
    register(tmp_path, "better")
    write_history(tmp_path, 4, 5)
    with pytest.raises(RunError, match=r"1 of 2 .* better: .*s/002\.parquet of s cannot be taken"):
        serve(tmp_path, spark)
    (tmp_path / "kept").rename(purged)
    serve(tmp_path, spark)
    for query in compiled:
        assert read_output(tmp_path / "out", query.name) == replayed(tmp_path, workspace, query)


def test_what_another_run_has_moved_is_not_missed(spark: SparkSession, tmp_path: Path) -> None:
    """Where the folder that says whose an archive is was removed, twice."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = declare(tmp_path, names=["matches"])
    go(tmp_path)
    shutil.rmtree(tmp_path / "old" / "s" / ".ontoweir")
    shutil.rmtree(tmp_path / "old" / "u" / ".ontoweir")
    go(tmp_path)  # it has read what is there
    for name in "su":
        shutil.rmtree(tmp_path / "old" / name / ".ontoweir")
    write_history(tmp_path, 2, 3)
    go(tmp_path, check="other", out="others")
    assert count(tmp_path) == (0, 6)
    for name in "su":
        shutil.rmtree(tmp_path / "old" / name / ".ontoweir")
    write_history(tmp_path, 3, 4)
    with pytest.raises(UsageError, match=r"old/[su]/002\.parquet of [su]: this run has not read"):
        go(tmp_path)
    for file in tmp_path.glob("old/[su]/002.parquet"):
        file.rename(tmp_path / file.parent.name / file.name)
    go(tmp_path)
    assert count(tmp_path) == (0, 8)
    for query in compiled:
        assert read_output(tmp_path / "out", query.name) == replayed(tmp_path, workspace, query)


def test_a_run_that_began_with_an_archive_has_read_it(spark: SparkSession, tmp_path: Path) -> None:
    """Its logs do not have those files."""
    write_history(tmp_path, 0, 2)
    workspace, compiled = declare(tmp_path, names=["matches"])
    go(tmp_path)
    shutil.rmtree(tmp_path / "check")
    go(tmp_path, out="out2")
    for name in "su":
        shutil.rmtree(tmp_path / "old" / name / ".ontoweir")
    write_history(tmp_path, 2, 3)
    go(tmp_path, out="out2")
    for query in compiled:
        assert read_output(tmp_path / "out2", query.name) == replayed(tmp_path, workspace, query)
