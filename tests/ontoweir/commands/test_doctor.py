"""`ontoweir doctor`: what is there, what is missing, and the command that mends it."""

from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run


def test_missing_java(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    ran = run("doctor")
    assert ran.code == 3
    assert any(
        line.startswith("missing  Java") and "mend it: apt-get install" in line
        for line in ran.out.splitlines()
    )
    assert all(line.startswith(("ok", "missing", "too old")) for line in ran.out.splitlines())


def test_without_extras(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said, with the way to mend it, and no reason to fail."""
    there = run("doctor")
    assert "optional" not in there.out
    monkeypatch.setattr("ontoweir.report.doctor.find_spec", lambda name: None)
    ran = run("doctor")
    assert ran.code == there.code
    assert "optional flask, which only the dashboard needs" in ran.out
    assert "relations of PostgreSQL and the sink postgres need" in ran.out


@pytest.mark.parametrize(("version", "code"), [("21.0.4", 0), ("17.0.12", 0), ("1.8.0_392", 3)])
def test_java_version(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, code: int
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    ran = run("doctor")
    assert ran.code == code
    assert ("too old  Java 8" in ran.out) == (code == 3)
