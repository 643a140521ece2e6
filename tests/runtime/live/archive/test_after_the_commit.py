"""A file is moved when the commit is there that has its rows, not before."""

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.errors import RunError
from ontoweir.runtime.live import process_batches
from ontoweir.runtime.live.checkpoint.save_state import commit_batch
from ontoweir.runtime.live.intake import keep_commits
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.model import IntakeOptions
from ontoweir.runtime.live.intake.save_intake import commit_intake
from tests.runtime import archive_cycles, intake_cycles
from tests.runtime.live.archive.archived_project import declare
from tests.runtime.live.test_run_live import write_history

FULL = RunError("the disk is full", why="-", fix="-")


class _Failing:
    """A commit that fails, the `count`-th time."""

    def __init__(self, commit: Any, count: int) -> None:
        self.commit, self.left = commit, count

    def __call__(self, *given: Any, **more: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise FULL
        return self.commit(*given, **more)


def _count(folder: Path, place: str = "old") -> int:
    return sum(f.is_file() for s in "suv" for f in (folder / place / s).glob("[0-9]*"))


@pytest.mark.parametrize("commits", [1, 2, 3])
def test_of_a_run(commits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_history(tmp_path, 0, 6)
    for name in archive_cycles.NAMES:
        (tmp_path / f"{name}.staged").mkdir()
    workspace, compiled = declare(tmp_path)
    failing = _Failing(commit_batch, commits)
    monkeypatch.setattr(process_batches, "commit_batch", failing)
    with pytest.raises(RunError, match="the disk is full"):
        archive_cycles.run(tmp_path, workspace, compiled, Random(1), 1000)
    assert _count(tmp_path) == 4 * (commits - 1)  # two files of each stream at once


@pytest.mark.parametrize("commits", [1, 2, 3])
def test_of_an_intake(commits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake_cycles, "ARCHIVES", True)
    intake_cycles.write_files(tmp_path, Random(1))
    workspace = intake_cycles.open_project(tmp_path)
    spark: Any = object()
    intake = Intake(IntakeOptions(tmp_path / "intake"), spark)
    intake.restore(ticks=False)
    for name in ("filter", "matches"):
        intake.join(intake_cycles.make_member(tmp_path, workspace, name))
    lister = intake_cycles.Lister(tmp_path, intake, 20)
    failing = _Failing(commit_intake, commits)
    monkeypatch.setattr(keep_commits, "commit_intake", failing)
    for number in range(1, commits + 1):
        for name in ("s", "u"):
            file = min((tmp_path / f"{name}.staged").iterdir())
            os.rename(file, tmp_path / name / file.name)
        if number < commits:
            lister.list()
            assert _count(tmp_path, "archive") == 2 * number
    with pytest.raises(RunError, match="the disk is full"):
        lister.list()
    assert _count(tmp_path, "archive") == 2 * (commits - 1)
    intake.close()
