"""kill -9 at every stage of a micro-batch, and disks that are full: then as if nothing happened."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from tests.runtime.fork_cycles import fingerprint
from tests.runtime.kill_at import STAGES
from tests.runtime.live.test_run_live import (
    QUERIES,
    open_queries,
    read_output,
    replayed,
    write_history,
)

HERE = Path(__file__).parent.parent.parent
SHORT = ("in-kernel", "before-output-commit")
"""The stages at which the whole driver is killed without --long: each takes half a minute."""


@pytest.mark.parametrize("stage", [*STAGES, "full-disk", "renewed-logs"])
def test_killed_again_and_again_without_spark(
    stage: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Output and state, byte by byte, are those of a run that nothing happened to."""
    kills = 400 if pytestconfig.getoption("--long") else 2
    seed = "23" if stage == "renewed-logs" else "7"  # with answers in the last micro-batch
    command = [sys.executable, str(HERE / "fork_cycles.py"), str(tmp_path), stage, seed, str(kills)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["kills"] == kills


@pytest.mark.parametrize("stage", ["in-kernel", "at-the-disk"])
def test_killed_with_open_steps(stage: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """The same where rows come late, so that steps are open from micro-batch to micro-batch."""
    kills = 200 if pytestconfig.getoption("--long") else 2
    command = [sys.executable, str(HERE / "fork_cycles.py"), str(tmp_path), stage, "5", str(kills)]
    ran = subprocess.run([*command, "late"], check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["kills"] == kills


def test_killed_where_a_few_rows_are_joined_with_many(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """The same of rows that come and go, joined: some micro-batches are looked at whole, of others
    what they meet, and the run is taken up again before either."""
    kills = 400 if pytestconfig.getoption("--long") else 2
    command = [sys.executable, str(HERE / "fork_cycles.py"), str(tmp_path), "at-the-disk", "3"]
    ran = subprocess.run(
        [*command, str(kills), "joined"], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["kills"] == kills


def test_killed_while_files_are_merged(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """The same where files of answers are merged: the same files, with the same rows."""
    kills = 400 if pytestconfig.getoption("--long") else 3
    command = [sys.executable, str(HERE / "fork_cycles.py"), str(tmp_path), "at-the-disk", "7"]
    ran = subprocess.run(
        [*command, str(kills), "compact"], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["kills"] == kills
    assert found["merged"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("stage", [*STAGES, "java"])
def test_driver_killed_and_resumed(
    stage: str, tmp_path: Path, spark: SparkSession, pytestconfig: pytest.Config
) -> None:
    """The same of the whole driver with its Java process ("java": that one alone), again and again.

    A live run has no Python workers to kill: the kernel runs in the driver.
    """
    kills = 20 if pytestconfig.getoption("--long") else 1
    if kills == 1 and stage not in SHORT:
        pytest.skip("this stage of the whole driver is killed with --long only")
    write_history(tmp_path, 0, 24 if kills > 1 else 4)
    workspace, compiled = open_queries(tmp_path, list(QUERIES))
    random = Random(STAGES.index(stage) if stage in STAGES else 99)
    deepest = {"in-kernel": 2500}.get(stage, 1)  # of about 2,000 calls in a micro-batch
    for _ in range(kills):
        assert drive(tmp_path, stage, random.randint(1, deepest)) == (
            3 if stage == "java" else -signal.SIGKILL
        )
    assert drive(tmp_path, "never", 0) == 0
    whole = RunOptions(tmp_path / "w" / "check", tmp_path / "w" / "out", once=True, progress=False)
    run_queries(workspace, compiled, whole, spark)
    for query in compiled:
        found = read_output(tmp_path / "out", query.name)
        assert found == replayed(tmp_path, workspace, query, spark)
    assert fingerprint(tmp_path) == fingerprint(tmp_path / "w")


def drive(folder: Path, stage: str, count: int, check: Path | None = None) -> int:
    """Run in a process of its own, which kills itself; a traceback fails the test."""
    command = [sys.executable, str(HERE / "live_driver.py"), str(folder), stage, str(count)]
    command += [] if check is None else [str(check)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    if ran.returncode == 3:
        assert ran.stdout.startswith("refused: "), ran.stdout + ran.stderr
        assert "Traceback" not in ran.stdout
    else:
        assert ran.returncode in (0, -signal.SIGKILL), ran.stderr[-3000:]
    return ran.returncode


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 600 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("NOT TESTED: no small file system can be mounted here")
    yield place
    # lazily: the JVM of the last driver may still hold it while it ends
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.slow
def test_a_full_disk_fails_clean_and_resumes(
    small_disk: Path, tmp_path: Path, spark: SparkSession
) -> None:
    """The checkpoint's disk fills up, is given room, and the run goes on from there."""
    write_history(tmp_path, 0, 4)
    workspace, compiled = open_queries(tmp_path, list(QUERIES))
    assert drive(tmp_path, "fill", 2, small_disk / "check") == 3
    (small_disk / "ballast").unlink()
    assert drive(tmp_path, "never", 0, small_disk / "check") == 0
    for query in compiled:
        found = read_output(tmp_path / "out", query.name)
        assert found == replayed(tmp_path, workspace, query, spark)
    shutil.rmtree(small_disk / "check")
