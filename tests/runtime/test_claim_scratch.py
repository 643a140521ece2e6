"""What Java leaves when it is killed is removed at the next start."""

import os
import signal
import tempfile
from pathlib import Path

import pytest

from ontoweir.runtime.spark.claim_scratch import claim_scratch


def test_folders_of_processes_that_died_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twin: that of a process that lives is not, nor what is not ours."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "spark-of-another").mkdir()
    (tmp_path / "ontoweir-java-without-a-lock").mkdir()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        mine = claim_scratch()
        (mine / "blockmgr-1").mkdir()
        os.write(writer, mine.name.encode())
        signal.pause()
    name = os.read(reader, 100).decode()
    alive = claim_scratch()
    assert (tmp_path / name / "blockmgr-1").is_dir()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    again = claim_scratch()
    assert not (tmp_path / name).exists()
    assert alive.is_dir()
    assert again.is_dir()
    assert (tmp_path / "spark-of-another").is_dir()
    assert (tmp_path / "ontoweir-java-without-a-lock").is_dir()
