"""What a start rests on is on the disk: a power cut leaves no file empty that is read then.

`benchmarks/outages/real_outages.py` cuts the power of a file system.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from ontoweir.registry import start_entry
from ontoweir.registry.registry_entry import Entry
from ontoweir.runtime.live.output.note_sent import SENT_FILE, note_sent

ENTRY = Entry("q", "an id", "sql", "SELECT a FROM s", "q.sql", "", False, "", "", 0, "0")


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files and folders that have been waited for."""
    found: list[Path] = []
    sync = os.fsync

    def note(file: Any) -> None:
        found.append(Path(os.readlink(f"/proc/self/fd/{file}")))
        sync(file)

    monkeypatch.setattr(os, "fsync", note)
    return found


def test_whose_a_folder_is(tmp_path: Path, waited: list[Path]) -> None:
    """Otherwise its state and answers would be taken for another's, and removed."""
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / start_entry._OWNER).write_text("another id")
    start_entry._take_over(tmp_path, ENTRY, None)
    assert not (tmp_path / "checkpoint").exists()
    assert waited == [tmp_path / f".{start_entry._OWNER}.new", tmp_path]
    (tmp_path / "checkpoint").mkdir()
    start_entry._take_over(tmp_path, ENTRY, None)
    assert (tmp_path / "checkpoint").exists()


def test_how_far_answers_were_sent(tmp_path: Path, waited: list[Path]) -> None:
    note_sent(tmp_path, "run", 3)
    assert waited == [tmp_path / f".{SENT_FILE}.new"]
