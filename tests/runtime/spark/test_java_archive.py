"""Java reads the archive of classes that the tests have made of it, where it is there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ontoweir.runtime.spark import start_session
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


def test_a_jar_made_anew_has_an_archive_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert java_archive.LOCAL_FILES.samefile(start_session.LOCAL_FILES)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    _make_java(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(java_archive, "LOCAL_FILES", tmp_path / "ours.jar")
    assert java_archive.find_archive() is None
    found = set()
    for seconds in (1, 2):
        (tmp_path / "ours.jar").touch()
        os.utime(tmp_path / "ours.jar", (seconds, seconds))
        found.add(java_archive.find_archive())
    assert len(found) == 2


def test_what_is_there_is_not_written_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written: list[Path] = []
    monkeypatch.setattr(java_archive, "write_archive", written.append)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    java_archive.main()
    assert written == []  # there is no Java
    _make_java(tmp_path)
    java_archive.main()
    (archive,) = written
    archive.touch()
    java_archive.main()
    assert written == [archive]


_MAPPED = """
import os
from pathlib import Path

from ontoweir.runtime.spark import start_session

start = start_session.start_java

def look(conf):
    gateway = start(conf)
    print(Path(f"/proc/{gateway.proc.pid}/maps").read_text())
    raise SystemExit

start_session.start_java = look
start_session.start_session({"spark.master": "local[1]"})
"""


@pytest.mark.spark
@pytest.mark.slow
def test_java_of_a_session_reads_the_archive(root: Path) -> None:
    """Its class path begins as that of the archive does: Java maps no other."""
    archive = java_archive.find_archive()
    if archive is None or not archive.exists():
        pytest.skip("NOT TESTED: there is no archive (python -m tests.java_archive writes it)")
    if not Path("/proc/self/maps").exists():
        pytest.skip("NOT TESTED: no /proc, which says what Java reads")
    environment = {**os.environ, "SPARK_SUBMIT_OPTS": java_archive.java_options()}
    ran = subprocess.run(
        [sys.executable, "-c", _MAPPED],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=root,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert str(archive) in ran.stdout


def _make_java(home: Path) -> None:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch()
