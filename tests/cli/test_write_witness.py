"""A witness on disk: the query over every suffix's files gives what the witness says."""

from pathlib import Path

import duckdb
import pytest

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
