"""Java reads the archive of classes that the tests have made of it, where it is there."""

import sys
from pathlib import Path

import pytest

from tests import java_archive


def test_without_an_archive_or_a_java_there_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java_archive.find_archive() is None
    assert java_archive.java_options() == java_archive.OPTIONS
    _make_java(tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert java_archive.find_archive() is not None
    assert java_archive.java_options() == java_archive.OPTIONS


def test_another_java_has_an_archive_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    found = []
    for name in ("one", "two"):
        _make_java(tmp_path / name)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / name))
        archive = java_archive.find_archive()
        assert archive is not None
        found.append(archive)
    assert found[0] != found[1]
    found[1].touch()
    assert f"SharedArchiveFile={found[1]} " in java_archive.java_options()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "one"))
    assert java_archive.java_options() == java_archive.OPTIONS


def _make_java(home: Path) -> None:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch()
