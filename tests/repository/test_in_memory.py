"""Where files of tests lie: in memory, if there is room, and nothing of it stays."""

import os
import tempfile
from pathlib import Path

import pytest

from tests import in_memory


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process of which nothing is said yet, with a memory of its own."""
    for name in ("ONTOWEIR_TESTS_IN_MEMORY", "PYTEST_DEBUG_TEMPROOT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(tempfile, "tempdir", "elsewhere")
    monkeypatch.setattr(in_memory, "MEMORY", tmp_path)


def test_all_processes_share_a_folder_that_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_memory, "has_room", lambda: True)
    in_memory.begin()
    (folder,) = tmp_path.iterdir()
    assert Path(tempfile.gettempdir()) == folder
    Path(folder, "left").mkdir()
    in_memory.begin()  # another process, which has the same environment
    assert [*tmp_path.iterdir()] == [folder]
    assert Path(tempfile.gettempdir()) == folder
    in_memory.end()
    assert not [*tmp_path.iterdir()]
    assert tempfile.tempdir is None


def test_without_room_they_lie_where_they_always_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_memory, "ROOM", 1 << 62)
    assert not in_memory.has_room(tmp_path)
    assert not in_memory.has_room(tmp_path / "missing")
    monkeypatch.setattr(in_memory, "has_room", lambda: False)
    in_memory.begin()
    in_memory.end()
    assert tempfile.tempdir == "elsewhere"
    assert not [*tmp_path.iterdir()]


def test_who_says_where_pytests_files_lie_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_memory, "has_room", lambda: True)
    monkeypatch.setenv("PYTEST_DEBUG_TEMPROOT", "mine")
    in_memory.begin()
    assert tempfile.tempdir == "elsewhere"
    assert not [*tmp_path.iterdir()]


def test_what_a_killed_run_has_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_memory, "has_room", lambda: True)
    for name in ("ontoweir-tests-old", "ontoweir-tests-other", "another"):
        (tmp_path / name).mkdir()
        if not name.endswith("other"):
            os.utime(tmp_path / name, (0, 0))
    in_memory.begin()
    in_memory.end()
    assert {p.name for p in tmp_path.iterdir()} == {"ontoweir-tests-other", "another"}
