"""The Java that Spark starts: JAVA_HOME's, else the first that is new enough."""

from pathlib import Path

import pytest

from ontoweir.errors import RunError
from ontoweir.runtime.spark import start_session
from ontoweir.runtime.spark.find_java import find_java


def _install(folder: Path, version: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return java


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/bin-without-java")
    place = "ontoweir.runtime.spark.find_java._PLACES"
    monkeypatch.setattr(place, (str(tmp_path / "jvm" / "*"),))


def test_without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_java() is None
    with pytest.raises(RunError, match="there is no Java"):
        start_session._need_java()


def test_one_that_is_not_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = _install(tmp_path / "jvm" / "b", "17.0.12")
    _install(tmp_path / "jvm" / "a", "1.8.0_392")
    assert find_java() == (java, 17)
    monkeypatch.setattr("shutil.which", lambda _: None)
    start_session._need_java()
    import os

    assert os.environ["JAVA_HOME"] == str(tmp_path / "jvm" / "b")
    del os.environ["JAVA_HOME"]  # monkeypatch would set it again


def test_java_home_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path / "jvm" / "b", "21")
    old = _install(tmp_path / "mine", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "mine"))
    assert find_java() == (old, 11)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert find_java() is None


def test_an_old_one_is_told_if_there_is_no_other(tmp_path: Path) -> None:
    old = _install(tmp_path / "jvm" / "a", "1.8.0_392")
    assert find_java() == (old, 8)
