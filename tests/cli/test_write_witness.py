"""A witness on disk: the query over every suffix's files gives what the witness says."""

from pathlib import Path

import duckdb
import pytest
from tests.cli.conftest import Run

from ontoweir.checker.evaluate_naively import evaluate_naively
from ontoweir.checker.witness import instance_of
from ontoweir.errors import UsageError
from ontoweir.pipeline import Workspace
from ontoweir.project import load_project
from ontoweir.rewriter.print_sql import print_sql
from ontoweir.write_witness import write_witness

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "traffic"
UNBOUNDED = "how-often-congestion-got-worse"


def test_the_files_hold_the_witness(tmp_path: Path) -> None:
    workspace = Workspace(load_project(EXAMPLE))
    catalog = workspace.project.catalog
    union = workspace.compile(UNBOUNDED).union
    witness = workspace.check(workspace.compile(UNBOUNDED)).witness
    assert witness is not None
    script = write_witness(witness, UNBOUNDED, catalog, tmp_path, project=EXAMPLE)
    text = script.read_text()
    sql = print_sql(union, catalog, dialect="duckdb", comments=False)
    found = []
    for number, suffix in enumerate(witness.suffixes, 1):
        db = duckdb.connect()
        for file in sorted((tmp_path / f"suffix-{number}").glob("*.parquet")):
            db.execute(f"CREATE VIEW {file.stem} AS SELECT * FROM '{file}'")
            assert f".{file.stem}.source={{ format = 'parquet'" in text
        answers = db.execute(sql).fetchall()
        rows = [*witness.fixed, *witness.optional, *suffix]
        assert len(answers) == evaluate_naively(union, instance_of(catalog, rows)).total()
        found.append(len(answers))
        db.close()
    assert len(set(found)) == witness.size  # every suffix asks for another optional tuple
    assert text.count("--allow-unbounded") == witness.size


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    workspace = Workspace(load_project(EXAMPLE))
    witness = workspace.check(workspace.compile(UNBOUNDED)).witness
    assert witness is not None
    taken = tmp_path / "file"
    taken.write_text("")
    with pytest.raises(UsageError, match="cannot write the witness"):
        write_witness(witness, UNBOUNDED, workspace.project.catalog, taken, project=EXAMPLE)


def test_check_writes_one_of_every_unbounded_query(run: Run, tmp_path: Path) -> None:
    ran = run("check", EXAMPLE, "--witness", tmp_path / "new", "--witness-size", 7)
    assert ran.code == 0
    folders = sorted(p.name for p in (tmp_path / "new").iterdir())
    assert folders == sorted(line.split(":")[0] for line in ran.err.splitlines())
    assert len(folders) == 3
    for folder in folders:
        script = (tmp_path / "new" / folder / "replay.sh").read_text()
        assert script.startswith("#!/bin/sh\n# 7 optional tuples")
        assert script.count(f"--query {folder} ") == 7


def test_a_bounded_query_has_none(run: Run, tmp_path: Path) -> None:
    ran = run("check", EXAMPLE, "--query", "every-reading-above-130", "--witness", tmp_path / "new")
    assert (ran.code, ran.err) == (0, "")
    assert not (tmp_path / "new").exists()


GROUPED = """PREFIX : <http://traffic.example/ns#>
SELECT ?reading (COUNT(*) AS ?n) WHERE { GRAPH ?t { ?reading :averageSpeed ?v } } GROUP BY ?reading
"""


def test_an_aggregate_query_cannot_be_replayed_without_a_plan(
    run: Run, project: Path, tmp_path: Path
) -> None:
    (project / "queries" / "grouped.rq").write_text(GROUPED)
    ran = run("check", project, "--query", "grouped", "--witness", tmp_path / "new")
    assert ran.code == 0
    assert "grouped: no witness written" in ran.err
    replay = ("replay", project, "--query", "grouped", "--output", tmp_path / "out.csv")
    refused = run(*replay, "--allow-unbounded")
    assert (refused.code, refused.out) == (2, "")
    assert "grouped.rq:2: grouped is unbounded and has aggregates" in refused.err
    assert "replay the query without aggregates, and aggregate the results" in refused.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--witness-size", "3"), "--witness-size without --witness"),
        (("--witness", "w", "--witness-size", "0"), "--witness-size 0 is not between 1 and 64"),
        (("--witness", "w", "--witness-size", "65"), "--witness-size 65 is not between 1 and 64"),
        (("--witness", "w", "--sql", "x.sql"), "--witness does not go with --sql"),
        (("--witness", "w", "--model", "arrival"), "--witness does not go with --model arrival"),
    ],
)
def test_what_cannot_be_written_is_refused(
    options: tuple[str, ...], what: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("check", EXAMPLE, *options)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(what)
    assert list(tmp_path.iterdir()) == []
