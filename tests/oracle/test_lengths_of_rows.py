"""Lengths of time that rows say, `s.minutes * INTERVAL '1' MINUTE`, beside DuckDB."""

import re
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import QueryError
from tests.oracle.test_asked_sql import ask_duckdb, told

CATALOG = """
[streams.reading]
source = { format = "parquet", path = "reading.parquet" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 3
keys = [["sensor", "ts"]]

[streams.reading.columns]
sensor = { type = "string", enum = ["a", "b", "c"] }
grade = { type = "int", min = 1, max = 3 }
free = "int"

[streams.alarm]
source = { format = "parquet", path = "alarm.parquet" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 3
keys = [["sensor", "ts"]]

[streams.alarm.columns]
sensor = { type = "string", enum = ["a", "b", "c"] }

[relations.sensor]
source = { format = "parquet", path = "sensor.parquet" }
keys = [["id"]]
max_rows = 3

[relations.sensor.columns]
id = "string"
wait = { type = "int", enum = [2, 5] }
maybe = { type = "int", enum = [2, 5], nullable = true }
"""
BEGIN = datetime(2026, 3, 1)
TEXTS = """
SELECT r.sensor, a.ts FROM reading r JOIN alarm a ON AFTER AND a.ts <= r.ts + r.grade * UNIT
SELECT r.sensor, a.ts FROM reading r JOIN alarm a ON AFTER AND a.ts - r.ts < UNIT * r.grade
SELECT r.sensor, a.ts FROM OF_SENSOR JOIN alarm a ON AFTER AND a.ts < r.ts + s.wait * UNIT
SELECT r.sensor, r.ts FROM OF_SENSOR WHERE NOT EXISTS (THERE AND a.ts <= r.ts + s.wait * UNIT)
SELECT r.sensor, r.ts FROM reading r WHERE NOT EXISTS (THERE AND a.ts < r.ts + BY_CASE)
SELECT r.sensor, COUNT(*) FROM reading r WHERE NOT EXISTS (THERE AND a.ts < r.ts + BY_CASE) BY_R
SELECT r.sensor, a.ts FROM reading r LEFT JOIN alarm a ON AFTER AND a.ts < r.ts + r.grade * UNIT
SELECT r.sensor, a.ts FROM OF_SENSOR JOIN alarm a ON AFTER AND a.ts < r.ts + s.maybe * UNIT
"""
WORDS = {
    "OF_SENSOR": "reading r JOIN sensor s ON s.id = r.sensor",
    "THERE": "SELECT 1 FROM alarm a WHERE AFTER",
    "AFTER": "a.sensor = r.sensor AND a.ts > r.ts",
    "UNIT": "INTERVAL '2' MINUTE",
    "BY_CASE": (
        "CASE r.grade WHEN 1 THEN INTERVAL '2' MINUTE WHEN 2 THEN INTERVAL '4' MINUTE "
        "ELSE INTERVAL '9' MINUTE END"
    ),
    "BY_R": "GROUP BY r.sensor",
}


def spell(text: str) -> str:
    for word, meant in WORDS.items():
        text = text.replace(word, meant)
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, random = tmp_path_factory.mktemp("lengths"), Random(7)
    (made / "ontoweir.toml").write_text(CATALOG)
    rows: dict[str, list[tuple[Any, ...]]] = {"reading": [], "alarm": []}
    for minute in range(200):
        for name in rows:
            for sensor in random.sample("abc", k=random.choice([0, 0, 1, 2])):
                more = (random.randint(1, 3), 1) if name == "reading" else ()
                rows[name].append((BEGIN + timedelta(minutes=minute), sensor, *more))
    rows["alarm"] += [(BEGIN + timedelta(days=1), sensor) for sensor in "abc"]
    names = {"reading": ["ts", "sensor", "grade", "free"], "alarm": ["ts", "sensor"]}
    for name, columns in names.items():
        cells = zip(*rows[name], strict=True)
        pq.write_table(pa.table(dict(zip(columns, cells, strict=True))), made / f"{name}.parquet")
    sensors = {"id": [*"abc"], "wait": [2, 5, 2], "maybe": [5, None, 2]}
    pq.write_table(pa.table(sensors), made / "sensor.parquet")
    return made


@pytest.fixture(scope="module")
def project(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


@pytest.mark.parametrize("text", TEXTS.strip().splitlines())
def test_it_is_as_duckdb_answers(folder: Path, project: OpenProject, text: str) -> None:
    found = told(project, spell(text), final="BY_R" in text)
    assert found == ask_duckdb(folder, spell(text))
    assert found


def test_beside_now_there_is_a_window_for_each_value(project: OpenProject) -> None:
    """Sensors that have not reported within their own time."""
    text = "SELECT s.id FROM sensor s WHERE NOT EXISTS (SELECT 1 FROM reading r WHERE r.sensor = "
    text += "s.id AND r.ts > NOW() - s.wait * INTERVAL '1' MINUTE)"
    each = [
        text.replace("s.wait * INTERVAL '1'", f"INTERVAL '{n}'").replace(
            "NOT", f"s.wait = {n} AND NOT"
        )
        for n in (2, 5)
    ]
    found = project.replay(text, emit="changes").to_arrow().to_pylist()
    assert found
    united = project.replay(" UNION ALL ".join(each), emit="changes").to_arrow().to_pylist()
    assert found == united


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("a.ts < r.ts + r.free * INTERVAL '1' MINUTE", "declare enum = […] of free"),
        ("a.ts < r.ts + MAYBE", "maybe may be NULL"),
        ("a.ts < r.ts + s.wait * INTERVAL '1.5' MINUTE", "no whole number of one unit"),
    ],
)
def test_others_are_refused(project: OpenProject, condition: str, said: str) -> None:
    text = "SELECT r.sensor FROM reading r JOIN sensor s ON s.id = r.sensor "
    text += f"JOIN alarm a ON a.sensor = r.sensor AND a.ts > r.ts AND {condition}"
    case = "CASE WHEN s.maybe = 2 THEN INTERVAL '1' MINUTE ELSE INTERVAL '2' MINUTE END"
    text = text.replace("MAYBE", case)
    with pytest.raises(QueryError, match=re.escape(said)):
        project.check(text)
