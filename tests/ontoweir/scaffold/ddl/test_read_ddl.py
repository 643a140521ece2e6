"""`ontoweir init --from` of SQL: tables as they are declared, whose data is to come."""

import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

SQL = """\
CREATE TABLE sensors (
  id INTEGER PRIMARY KEY, room VARCHAR(20) NOT NULL, kind TEXT CHECK (kind IN ('hall', 'lab')));
CREATE TABLE IF NOT EXISTS "plant".readings (
  sensor INT REFERENCES sensors, seen TIMESTAMP NOT NULL,
  celsius NUMERIC(5,2) CHECK (celsius BETWEEN -40 AND 60), ok BOOLEAN, x DOUBLE PRECISION,
  note JSON, grade SMALLINT CHECK (grade >= 1 AND grade <= 9),
  PRIMARY KEY (sensor, seen),
  CONSTRAINT where_it_stands FOREIGN KEY (sensor) REFERENCES sensors (id)
);
CREATE INDEX by_time ON readings (seen);
INSERT INTO sensors VALUES (1, 'a', 'hall');
"""


def test_what_is_declared(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plant.sql").write_text(SQL)
    project = tmp_path / "plant"
    ran = run("init", project, "--from", tmp_path / "plant.sql")
    assert ran.code == 0, ran.err
    assert "1 stream (readings), 1 relation (sensors), 4 queries" in ran.out
    assert "left out, as their types are not known: readings.note" in ran.out
    text = (project / "ontoweir.toml").read_text()
    declared = tomllib.loads(text)
    stream = declared["streams"]["readings"]
    assert stream["timestamp"] == {"column": "seen", "unit": "1 second"}
    assert stream["keys"] == [["sensor", "seen"]]
    assert stream["references"] == [{"columns": ["sensor"], "relation": "sensors", "to": ["id"]}]
    assert stream["columns"] == {
        "sensor": "int",
        "celsius": {"type": "decimal(5,2)", "min": -40, "max": 60},
        "ok": "boolean",
        "x": "double",
        "grade": {"type": "int", "min": 1, "max": 9},
    }
    relation = declared["relations"]["sensors"]
    assert relation["keys"] == [["id"]]
    assert relation["columns"]["kind"] == {"type": "string", "enum": ["hall", "lab"]}
    assert "seen:" not in text  # nothing was
    assert run("check", project, "--fail-on", "undecided", "-q").code == 0
    assert "there is no data for" in run("show", "readings-above", project).err


@pytest.mark.parametrize("ending", ["ddl", "psql"])
def test_sql_that_is_called_otherwise(run: Run, tmp_path: Path, ending: str) -> None:
    (tmp_path / f"plant.{ending}").write_text(SQL)
    ran = run("init", tmp_path / "plant", "--from", tmp_path / f"plant.{ending}")
    assert (ran.code, "1 stream (readings), 1 relation (sensors)" in ran.out) == (0, True), ran.err


def test_what_one_file_alters_is_created_by_another(run: Run, tmp_path: Path) -> None:
    (tmp_path / "keys.sql").write_text(
        "ALTER TABLE ONLY sensors ADD CONSTRAINT p PRIMARY KEY (id);\n"
        "ALTER TABLE readings ADD FOREIGN KEY (sensor) REFERENCES sensors (id);"
    )
    (tmp_path / "tables.sql").write_text(
        "CREATE TABLE sensors (id INT); CREATE TABLE readings (sensor INT, seen TIMESTAMP);"
    )
    project = tmp_path / "plant"
    files = ("--from", tmp_path / "keys.sql", "--from", tmp_path / "tables.sql")
    ran = run("init", project, *files)
    assert ran.code == 0, ran.err
    made = tomllib.loads((project / "ontoweir.toml").read_text())
    assert made["relations"]["sensors"]["keys"] == [["id"]]
    (reference,) = made["streams"]["readings"]["references"]
    assert reference == {"columns": ["sensor"], "relation": "sensors", "to": ["id"]}


def test_the_data_comes_later(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plant.sql").write_text(SQL)
    project = tmp_path / "plant"
    assert run("init", project, "--from", tmp_path / "plant.sql", "-q").code == 0
    (project / "data").mkdir()
    sensors = {"id": [1, 2], "room": ["a", "b"], "kind": ["hall", "lab"]}
    pq.write_table(pa.table(sensors), project / "data" / "sensors.parquet")
    readings = {
        "sensor": pa.array([1, 2, 2]),
        "seen": pa.array([0, 1, 2], pa.int64()).cast(pa.timestamp("s")),
        "celsius": pa.array([1, 2, 3]),
        "ok": pa.array([True, None, False]),
        "x": pa.array([1.0, 2.0, 3.0]),
        "grade": pa.array([1, 5, 10]),
    }
    pq.write_table(pa.table(readings), project / "data" / "readings.parquet")
    ran = run("check", project, "--data", "-q")
    assert ran.code == 1
    assert "data  sensors: what is declared is true of 2 rows" in ran.out
    assert "readings.grade is outside its declared domain: 1 row" in ran.out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("CREATE TABLE t (a INT;", "it is not SQL that is known"),
        ("SELECT 1", "no table is created"),
        ("CREATE TABLE t (a INT)", "has a timestamp"),
        (
            "ALTER TABLE t ADD PRIMARY KEY (a)",
            "only ALTER TABLE is there, of t; name the file that",
        ),
    ],
)
def test_what_is_refused(run: Run, tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "t.sql"
    file.write_text(text)
    ran = run("init", tmp_path / "p", "--from", file)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert not (tmp_path / "p").exists()
