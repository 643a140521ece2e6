"""`show` of tables of Delta and Iceberg: what they have now, not the files that lie there."""

import json
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from ontoweir.dashboard.rows.page_rows import Look, page_rows
from ontoweir.runtime.packed import read_whole
from tests.ontoweir.conftest import Run

OLD, NEW = pa.table({"k": ["a", "b"], "n": [1, 2]}), pa.table({"k": ["a"], "n": [3]})


@pytest.fixture(params=["delta", "iceberg"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """One whose rows have been replaced: the files of those before are still there."""
    folder = tmp_path / "answers" / "q"
    if request.param == "delta":
        write_deltalake(str(folder), OLD)
        write_deltalake(str(folder), NEW, mode="overwrite")
    else:
        catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
        catalog.create_namespace("db")
        made = catalog.create_table("db.q", OLD.schema, location=f"file://{folder}")
        made.append(OLD)
        made.overwrite(NEW)
        catalog.close()
    return folder


def _shown(run: Run, *what: object) -> list[object]:
    ran = run("show", *what, "--format", "jsonl")
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def test_only_rows_that_hold_are_shown(run: Run, table: Path) -> None:
    assert len(list(table.rglob("*.parquet"))) > 1
    assert _shown(run, table) == _shown(run, table.parent) == [{"k": "a", "n": 3}]
    assert page_rows(table, Look()).total == 1


def test_files_beside_a_table_are_shown_too(run: Run, table: Path) -> None:
    (table.parent / "other.csv").write_text("k,n\nz,9\n")
    assert _shown(run, table.parent) == [{"k": "z", "n": 9}, {"k": "a", "n": 3}]


def test_a_table_is_not_followed(run: Run, table: Path) -> None:
    ran = run("show", table, "--follow")
    assert (ran.code, "--follow with the table" in ran.err) == (2, True)


def test_without_its_package(run: Run, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_spec("deltalake")
    monkeypatch.setattr(read_whole, "find_spec", lambda _: None)
    ran = run("show", table)
    assert (ran.code, "pip install 'ontoweir[" in ran.err) == (2, True)
