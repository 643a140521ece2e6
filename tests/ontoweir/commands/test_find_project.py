"""Which project a command means: the one named, or the nearest from the current folder upward."""

import io
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run


@pytest.fixture
def rooms(run: Run, tmp_path: Path) -> Path:
    """The project of `init`."""
    assert run("init", tmp_path / "rooms", "-q").code == 0
    return tmp_path / "rooms"


def test_the_nearest_project_above(run: Run, rooms: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = rooms / "queries" / "old" / "older"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    for command in (("check", "--query", "hot-readings"), ("list",), ("status",), ("ontology",)):
        ran = run(*command)
        assert ran.code == 0, (command, ran.err)
    ran = run("check", "--query", "nothing")
    assert ran.err.startswith("../../../ontoweir.toml:")  # as it is seen from here
    out = run("replay", "--query", "hot-readings", "--output", "hot.csv", "-q")
    assert out.code == 0, out.err
    assert (inside / "hot.csv").exists()  # other paths are the current folder's
    (inside / "ontoweir.toml").write_text("[project]\n")
    assert "has no queries" in run("check").err  # the nearest


def test_as_an_option(run: Run, rooms: Path) -> None:
    for command in (
        ("check", "--query", "hot-readings"),
        ("rewrite", "--query", "hot-readings", "--show", "plan"),
        ("show", "hot-readings"),
        ("list",),
        ("status",),
    ):
        ran = run(*command, "--project", rooms)
        assert ran.code == 0, (command, ran.err)
    both = run("check", rooms, "--project", rooms.parent)
    assert both.code == 2
    assert "two projects are named" in both.err


def test_without_any(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("check")
    assert ran.code == 2
    assert "no project file" in ran.err


def test_several_files_after_from(run: Run, rooms: Path, tmp_path: Path) -> None:
    data = rooms / "data"
    made = run("init", tmp_path / "own", "--from", data / "reading.csv", data / "sensor.csv")
    assert made.code == 0, made.err
    assert "1 stream (reading), 1 relation (sensor)" in made.out


def test_sql_from_standard_input(
    run: Run, rooms: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "SELECT x.celsius FROM reading x JOIN reading y ON x.celsius = y.celsius AND x.ts < y.ts"
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    ran = run("check", rooms, "--sql", "-")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("stdin  bag  conditionally-bounded")
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT celsius FROM reading WHERE celsius > 26"))
    ran = run("replay", rooms, "--sql", "-", "--output", "-", "-q")
    assert ran.code == 0, ran.err
    assert len(ran.out.splitlines()) > 100
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT nothing FROM reading"))
    assert "stdin.sql:1: " in run("check", rooms, "--sql", "-").err
    monkeypatch.setattr("sys.stdin", io.StringIO(" "))
    ran = run("check", rooms, "--sql", "-")
    assert (ran.code, ran.out) == (2, "")
    assert "standard input has no query" in ran.err


def test_a_query_from_standard_input(
    run: Run, rooms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparql = (rooms / "queries" / "hot-readings.rq").read_text()
    for given in (["--query", "-"], ["--query=-"]):
        monkeypatch.setattr("sys.stdin", io.StringIO(sparql))
        ran = run("check", rooms, *given)
        assert (ran.code, ran.out.startswith("query-")) == (0, True), ran.err
    for text in (sparql, "SELECT celsius FROM reading WHERE celsius > 26"):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        ran = run("show", "--query", "-", "--project", rooms, "--limit", "1")
        assert (ran.code, "1 of " in ran.out) == (0, True), ran.err
    for text in ("", "road,speed\n1,2\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        ran = run("check", rooms, "--query", "-")
        assert (ran.code, "--query: standard input has no query; --query - reads" in ran.err) == (
            2,
            True,
        )
