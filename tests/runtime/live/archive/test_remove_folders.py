"""Folders that moving files has emptied are removed after a day, as long as Spark does not list."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.live.archive.remove_folders import EMPTY, remove_folders
from tests.runtime.live.archive.test_move_files import NAMES, _Run

DAY = ("in/day=1", "in/day=2/hour=1", "in/day=2/hour=2", "in/day=3", "in/own", "in/.held/x")


def _make(folder: Path, names: Sequence[str], *, days: float) -> None:
    """Folders of a source, and of its archive but for its own one, that are so old."""
    for name in names:
        (folder / name).mkdir(parents=True)
        if name != "in/own":
            (folder / "old" / name.removeprefix("in/")).mkdir(parents=True)
    at = time.time() - days * EMPTY
    for place in (folder / "in").rglob("*"):
        os.utime(place, (at, at))
    os.utime(folder / "in", (at, at))


def _there(folder: Path) -> list[str]:
    return sorted(str(f.relative_to(folder)) for f in (folder / "in").rglob("*"))


def _data(folder: Path) -> DataSource:
    return DataSource("csv", str(folder / "in"), archive=str(folder / "old"))


def test_folders_that_are_empty_for_a_day_are_removed(tmp_path: Path) -> None:
    """But the source's own, those that the archive lacks, and those that are not looked into."""
    _make(tmp_path, DAY, days=1.1)
    (tmp_path / "in" / "day=3" / "late.csv").write_text("1")
    os.symlink(tmp_path / "old" / "day=1", tmp_path / "in" / "link")
    assert remove_folders(_data(tmp_path)) == 3
    left = ["in/.held", "in/.held/x", "in/day=2", "in/day=3", "in/day=3/late.csv"]
    assert _there(tmp_path) == [*left, "in/link", "in/own"]
    assert remove_folders(_data(tmp_path)) == 0  # day=2 has become empty just now
    os.utime(tmp_path / "in" / "day=2", (1000, 1000))
    assert remove_folders(_data(tmp_path)) == 1
    for name in ("day=1", "day=2/hour=1", "day=3"):
        assert (tmp_path / "old" / name).is_dir()


def test_twin_not_those_that_have_just_become_empty(tmp_path: Path) -> None:
    """Nor where there is no archive, nor the folder of the source, nor beside a pattern's."""
    _make(tmp_path, DAY, days=0.9)
    before = _there(tmp_path)
    assert remove_folders(_data(tmp_path)) == 0
    assert remove_folders(DataSource("csv", str(tmp_path / "in"))) == 0
    assert remove_folders(DataSource("csv", str(tmp_path / "x"), archive=str(tmp_path / "y"))) == 0
    assert _there(tmp_path) == before
    assert remove_folders(DataSource("csv", f"{tmp_path}/in/day=1", archive=f"{tmp_path}/old")) == 0
    assert _there(tmp_path) == before


def test_a_file_that_comes_meanwhile_keeps_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make(tmp_path, ["in/day=1"], days=2)
    remove = os.rmdir

    def write_first(place: str) -> None:
        Path(place, "late.csv").write_text("1")
        remove(place)

    monkeypatch.setattr(os, "rmdir", write_first)
    assert remove_folders(_data(tmp_path)) == 0
    assert _there(tmp_path) == ["in/day=1", "in/day=1/late.csv"]


def test_they_are_removed_as_a_run_begins(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    keeper = run.keep()
    run.move(keeper, len(NAMES) - 1)
    assert (tmp_path / "in" / "day=1").is_dir()
    keeper.begin()
    assert (tmp_path / "in" / "day=1").is_dir()  # it was emptied just now
    os.utime(tmp_path / "in" / "day=1", (1000, 1000))
    keeper.begin()
    assert not list((tmp_path / "in").iterdir())
    assert run.there("old") == sorted(NAMES)
    run.move(keeper, len(NAMES) - 1)
    keeper.release()
