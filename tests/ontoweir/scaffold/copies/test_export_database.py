"""`ontoweir init --from` of a database file: its tables are Parquet files of the project."""

import json
import sqlite3
import sys
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

ROWS = [(n % 4, f"2026-01-05 08:{n:02}:00", 20 + n / 2) for n in range(60)]


def _sqlite(folder: Path) -> Path:
    file = folder / "plant.db"
    with closing(sqlite3.connect(file)) as made, made:
        made.execute("CREATE TABLE readings (sensor INTEGER, at TEXT, celsius REAL)")
        made.execute('CREATE TABLE sensors (sensor INTEGER PRIMARY KEY, "a room" TEXT, note)')
        made.executemany("INSERT INTO readings VALUES (?, ?, ?)", ROWS)
        notes = [1, "one", None, 2.5]  # SQLite has a type for each value, not for a column
        made.executemany(
            "INSERT INTO sensors VALUES (?, ?, ?)", [(n, f"r{n}", notes[n]) for n in range(4)]
        )
    return file


def _duckdb(folder: Path) -> Path:
    file = folder / "plant.duckdb"
    with duckdb.connect(str(file)) as made:
        made.execute('CREATE TABLE readings (sensor INT, "at" TIMESTAMP, celsius DECIMAL(5, 2))')
        made.executemany("INSERT INTO readings VALUES (?, ?, ?)", ROWS)
        made.execute(
            "CREATE TABLE sensors AS SELECT i::INT sensor, 'r' || i room FROM range(4) t(i)"
        )
        made.execute("CREATE VIEW everything AS SELECT * FROM readings")
    return file


@pytest.mark.parametrize("make", [_sqlite, _duckdb])
def test_a_project_of_a_database(run: Run, tmp_path: Path, make: Callable[[Path], Path]) -> None:
    file, project = make(tmp_path), tmp_path / "project"
    ran = run("init", project, "--from", file)
    assert ran.code == 0, ran.err
    assert "1 stream (readings), 1 relation (sensors), 4 queries" in ran.out
    declared = tomllib.loads((project / "ontoweir.toml").read_text())
    stream = declared["streams"]["readings"]
    assert stream["source"] == {"format": "parquet", "path": "data/readings.parquet"}
    assert stream["timestamp"] == {"column": "at", "unit": "1 minute"}
    assert ["celsius"] not in stream.get("keys", [])
    assert pq.read_table(project / "data" / "readings.parquet").num_rows == len(ROWS)
    moved = project.rename(tmp_path / "elsewhere")  # paths are the project's own
    checked = run("check", moved, "--data", "--format", "json", "-q")
    assert checked.code == 0, checked.err
    assert {q["verdict"] for q in json.loads(checked.out)} <= {"bounded", "conditionally-bounded"}
    shown = run("show", "readings-above", moved, "--format", "jsonl", "-q", "--limit", "0")
    values = [float(json.loads(line)["value"]) for line in shown.out.splitlines()]
    assert values
    assert sorted(values) == sorted(v for *_, v in ROWS if v >= min(values))


def test_values_of_several_types_are_text(run: Run, tmp_path: Path) -> None:
    assert run("init", tmp_path / "p", "--from", _sqlite(tmp_path)).code == 0
    table = pq.read_table(tmp_path / "p" / "data" / "sensors.parquet")
    assert table.column("note").to_pylist() == ["1", "one", None, "2.5"]


def test_what_is_no_database(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrong.db").write_text("sensor,at\n")
    empty = tmp_path / "empty.sqlite"
    with closing(sqlite3.connect(empty)) as made, made:
        made.execute("CREATE TABLE t (a)")
        made.execute("DROP TABLE t")
    for file, told in (
        (tmp_path / "wrong.db", "the database cannot be read"),
        (empty, "the database has no table"),
        (tmp_path / "nothing.db", "there is no"),
    ):
        ran = run("init", tmp_path / "p", "--from", file)
        assert (ran.code, ran.out) == (2, ""), told
        assert told in ran.err
        assert str(file) in ran.err
        assert not (tmp_path / "p").exists()
    monkeypatch.setitem(sys.modules, "duckdb", None)
    ran = run("init", tmp_path / "p", "--from", tmp_path / "wrong.db")
    assert ran.code == 2
    assert "pip install duckdb" in ran.err
