"""Checkpoints and outputs with something changed: the answers of a replay, or a refusal; never
other answers with exit code 0.

A run in three parts, with copies of its folders after each. Then, at random, a file or folder is
truncated, flipped, emptied, removed, taken from an older copy or from another run, and the run goes
on. `--long` has more cases.
"""

import os
import shutil
import stat
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import OntoweirError, RunError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live import process_batches as take_batches
from tests.runtime.live.test_run_live import (
    Row,
    open_queries,
    read_output,
    replayed,
    write_history,
)

PARTS = 3


@dataclass(frozen=True)
class Runs:
    """A run, and another, with copies `check-1`, `out-1` … after each part, and what is right."""

    folder: Path
    workspace: Workspace
    compiled: list[CompiledQuery]
    right: dict[str, list[Row]]

    def options(self) -> RunOptions:
        return RunOptions(self.folder / "check", self.folder / "out", once=True, progress=False)

    def restore(self) -> None:
        """Both folders as they were after the last part."""
        for name in ("check", "out"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            shutil.copytree(self.folder / f"{name}-{PARTS - 1}", self.folder / name)

    def outcome(self, spark: SparkSession) -> str:
        """ "refused", or "right"; anything else fails."""
        said: OntoweirError | None = None
        try:
            run_queries(self.workspace, self.compiled, self.options(), spark)
        except OntoweirError as error:
            said = error
        if said is not None:
            assert said.exit_code in (2, 3)
            assert len(str(said).splitlines()) == 1
            return "refused"
        for name, rows in self.right.items():
            assert read_output(self.folder / "out", name) == rows, name
        return "right"


@pytest.fixture(scope="module")
def runs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("runs")
    names = ["matches", "sums"]
    for part in range(PARTS - 1):
        write_history(folder, 2 * part, 2 * part + 2)
        workspace, compiled = open_queries(folder, names)
        options = RunOptions(folder / "check", folder / "out", once=True, progress=False)
        run_queries(workspace, compiled, options, spark)
        for name in ("check", "out"):
            shutil.copytree(folder / name, folder / f"{name}-{part + 1}")
    for name in ("check", "out"):  # the same query, another run
        shutil.rmtree(folder / name)
    run_queries(workspace, compiled, options, spark)
    for name in ("check", "out"):
        os.rename(folder / name, folder / f"{name}-other")
    write_history(folder, 2 * PARTS - 2, 2 * PARTS)
    right = {query.name: replayed(folder, workspace, query, spark) for query in compiled}
    assert all(right.values())
    return Runs(folder, workspace, compiled, right)


def _truncate(place: Path, random: Random) -> None:
    content = place.read_bytes()
    place.write_bytes(content[: random.randrange(len(content))] if content else b"x")


def _flip(place: Path, random: Random) -> None:
    content = bytearray(place.read_bytes() or b" ")
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    place.write_bytes(bytes(content))


def _remove(place: Path, random: Random) -> None:
    shutil.rmtree(place) if place.is_dir() else place.unlink()


def _empty(place: Path, random: Random) -> None:
    place.write_bytes(b"")


def _from(copy: str) -> Callable[[Path, Random], None]:
    """The same path of another copy, files of it that are more than now included."""

    def change(place: Path, random: Random) -> None:
        folder = next(p for p in (place, *place.parents) if p.name in ("check", "out"))
        source = folder.with_name(f"{folder.name}-{copy}") / place.relative_to(folder)
        _remove(place, random)
        if source.is_dir():
            shutil.copytree(source, place)
        elif source.exists():
            shutil.copy2(source, place)

    return change


Change = Callable[[Path, Random], None]
FILES: dict[str, Change] = {
    "truncated": _truncate,
    "flipped": _flip,
    "removed": _remove,
    "emptied": _empty,
}
EITHER: dict[str, Change] = {
    "older": _from("1"),
    "of another run": _from("other"),
    "removed": _remove,
}


def test_untouched(runs: Runs, spark: SparkSession) -> None:
    """The twin: it goes on, and is not refused."""
    runs.restore()
    assert runs.outcome(spark) == "right"


def test_an_older_checkpoint_beside_the_newer_output(runs: Runs, spark: SparkSession) -> None:
    """What messages recommend: restore it from a copy."""
    runs.restore()
    shutil.rmtree(runs.folder / "check")
    shutil.copytree(runs.folder / "check-1", runs.folder / "check")
    assert runs.outcome(spark) == "right"


@pytest.mark.parametrize("changed", ["offsets", "commits", "offsets and commits", "torn", "zero"])
def test_spark_is_behind_or_torn(changed: str, runs: Runs, spark: SparkSession) -> None:
    """What a power cut leaves of files that Spark did not wait for: it goes on by itself."""
    runs.restore()
    half = runs.folder / "check" / "spark"
    for name in ("offsets", "commits"):
        last = sorted((half / name).iterdir(), key=lambda f: int(f.name))[-1]
        if name in changed:
            last.unlink()
        elif changed == "torn":
            last.write_bytes(last.read_bytes()[:7])
            (half / name / str(int(last.name) + 1)).write_bytes(b"v1")
        elif changed == "zero":
            for file in (half / name).iterdir():
                file.write_bytes(b"")
    for source in (half / "sources").iterdir():
        number = max(int(f.name) for f in source.iterdir())
        if changed in ("torn", "zero"):
            (source / str(number + 1)).write_bytes(b"v1\n{" if changed == "torn" else b"")
    assert runs.outcome(spark) == "right"


class _Disk:
    """What of some folders is on the disk, by what was waited for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.held: dict[int, bytes] = {}
        sync = os.fsync

        def noted(handle: int) -> None:
            found = os.fstat(handle)
            if stat.S_ISREG(found.st_mode):
                self.held[found.st_ino] = Path(f"/proc/self/fd/{handle}").read_bytes()
            sync(handle)

        monkeypatch.setattr(os, "fsync", noted)

    def cut_power(self, *folders: Path, removed: bool) -> int:
        """Files are what they were when last waited for; else empty, or not there."""
        lost = 0
        for file in sorted(f for folder in folders for f in folder.rglob("*") if f.is_file()):
            there = self.held.get(file.stat().st_ino)
            if there == file.read_bytes():
                continue
            lost += 1
            if there is None and removed:
                file.unlink()
            else:
                file.write_bytes(there or b"")
        return lost


@pytest.mark.parametrize("removed", [False, True])
def test_power_cuts(
    removed: bool,
    runs: Runs,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
) -> None:
    """At any moment: what was not waited for is lost, and the run goes on by itself."""
    random = Random(removed)
    for _ in range(60 if pytestconfig.getoption("--long") else 5):
        with monkeypatch.context() as patch:
            for name in ("check", "out"):
                shutil.rmtree(runs.folder / name, ignore_errors=True)
            disk = _Disk(patch)
            _crash_at(random.choice(CRASHES), random.randint(1, 5), patch)
            with pytest.raises(OntoweirError, match="the power"):
                run_queries(runs.workspace, runs.compiled, runs.options(), spark)
        assert disk.cut_power(runs.folder / "check", runs.folder / "out", removed=removed)
        assert runs.outcome(spark) == "right"


CRASHES = ("advance_live", "commit_batch", "publish_commit", "measure_batch", "write_metrics")


def _crash_at(name: str, count: int, patch: pytest.MonkeyPatch) -> None:
    """The count-th call of what a micro-batch calls is the last thing that happens."""
    called = getattr(take_batches, name)
    calls: list[int] = []

    def crash(*given: Any, **more: Any) -> Any:
        calls.append(1)
        found = called(*given, **more)
        if len(calls) == count:
            raise RunError("the power goes", why="for the test", fix="start again")
        return found

    patch.setattr(take_batches, name, crash)


@pytest.mark.parametrize("place", ["check", "out"])
def test_mutated(place: str, runs: Runs, spark: SparkSession, pytestconfig: pytest.Config) -> None:
    cases = 600 if pytestconfig.getoption("--long") else 24
    random = Random(place)
    found: Counter[tuple[str, str]] = Counter()
    for _ in range(cases):
        runs.restore()
        folder = runs.folder / place
        files = sorted(p for p in folder.rglob("*") if p.name != "lock")
        target = random.choice([p for p in files if p.is_file()])
        name = random.choice(sorted(FILES))
        change = FILES[name]
        if random.random() < 0.4:
            target = random.choice([folder, *files])
            name = random.choice(sorted(EITHER))
            change = EITHER[name]
        change(target, random)
        try:
            found[name, runs.outcome(spark)] += 1
        except AssertionError as error:
            raise AssertionError(f"{name}: {target.relative_to(runs.folder)}") from error
    print(place, dict(found))
    assert {outcome for _, outcome in found} == {"right", "refused"}
