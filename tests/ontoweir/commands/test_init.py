"""`ontoweir init`: a project that is checked, linted and replayed at once."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ontoweir.project.new_project
from ontoweir.project.new_project import QUERIES
from tests.ontoweir.commands.test_errors import snapshot
from tests.ontoweir.conftest import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def made(run: Run, tmp_path: Path) -> Path:
    folder = tmp_path / "a" / "new project"
    ran = run("init", folder)
    assert (ran.code, ran.err) == (0, "")
    assert str(folder) in ran.out
    return folder


def test_every_query_is_bounded(run: Run, made: Path) -> None:
    ran = run("check", made, "--fail-on", "undecided")
    assert (ran.code, ran.err) == (0, "")
    assert all(name in ran.out for name in QUERIES)


def test_nothing_is_unbounded_for_ever(run: Run, made: Path) -> None:
    ran = run("check", made, "--mappings-only", "--fail-on", "unbounded")
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.spark
@pytest.mark.parametrize("name", QUERIES)
def test_it_has_answers(name: str, run: Run, made: Path, spark: "SparkSession") -> None:
    ran = run("replay", made, "--query", name, "--output", made / "answers.csv", "--quiet")
    assert ran.code == 0, ran.err
    assert "rejected" not in ran.out
    with (made / "answers.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) > 2


def test_an_empty_folder_will_do_and_no_other(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("init", tmp_path / "empty", "--quiet").code == 0
    before = snapshot(tmp_path)
    ran = run("init", tmp_path / "empty")
    assert (ran.code, ran.out) == (2, "")
    assert "exists and is not empty" in ran.err
    ran = run("init", tmp_path / "empty" / "ontoweir.toml")
    assert ran.code == 2
    assert "is a file" in ran.err
    assert snapshot(tmp_path) == before


def test_interrupted_it_leaves_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> object:
        yield "ontoweir.toml", "[project]\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(ontoweir.project.new_project, "list_project_files", interrupted)
    ran = run("init", tmp_path / "new")
    assert ran.code == 130
    assert ran.err == "interrupted; nothing is half written\n"
    assert list(tmp_path.iterdir()) == []
