"""UNPIVOT: random wide tables, asked as DuckDB is, and what is refused."""

from datetime import timedelta
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.errors import QueryError
from tests.oracle.test_asked_sql import BEGIN, ask_duckdb, told

CATALOG = """
[project]
queries = []
[streams.reading]
source = { format = "parquet", path = "reading.parquet" }
timestamp = { column = "ts", unit = "10 minutes" }
max_per_timestamp = 1
columns = { room = { type = "string", enum = ["x", "y"] }, t1 = TEMP, t2 = TEMP, t3 = TEMP }
[streams.alarm]
source = { format = "parquet", path = "reading.parquet" }
timestamp = { column = "ts", unit = "10 minutes" }
columns = { room = "string" }
[relations.sensor]
source = { format = "parquet", path = "sensor.parquet" }
keys = [["id"]]
max_rows = 2
columns = { id = "string", city = "string" }
""".replace("TEMP", '{ type = "double", nullable = true }')
WIDE = "reading UNPIVOT (x FOR sensor IN (t1, t2, t3))"
EARLY = f"ts < TIMESTAMP '{BEGIN + timedelta(days=1)}'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wide")
    random = Random(7)
    rows = 300
    times = [BEGIN + timedelta(minutes=10 * n) for n in range(rows)]
    cells = {
        f"t{n}": [random.choice([None, random.randint(-9, 9) / 4]) for _ in times]
        for n in (1, 2, 3)
    }
    rooms = {"room": [random.choice("xy") for _ in times]}
    table = pa.table({"ts": pa.array(times, pa.timestamp("us")), **rooms, **cells})
    pq.write_table(table, made / "reading.parquet")
    pq.write_table(table, made / "alarm.parquet")
    pq.write_table(pa.table({"id": ["t1", "t3"], "city": ["Bonn", "Ulm"]}), made / "sensor.parquet")
    (made / "ontoweir.toml").write_text(CATALOG)
    return made


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ts, room, sensor, x FROM {WIDE}",
        f"SELECT * FROM {WIDE} AS u WHERE u.x > 1 AND u.sensor <> 't2'",
        "SELECT sensor, x FROM reading UNPIVOT INCLUDE NULLS (x FOR sensor IN (t1, t2))",
        f"SELECT sensor, MAX(x) FROM {WIDE} WHERE {EARLY} GROUP BY 1, date_trunc('hour', ts)",
        f"SELECT room, AVG(x) AS m FROM {WIDE} WHERE {EARLY} GROUP BY room, date_trunc('day', ts)",
        f"SELECT s.city, u.x FROM {WIDE} AS u JOIN sensor s ON s.id = u.sensor WHERE u.x < 0",
    ],
)
def test_as_duckdb(folder: Path, text: str) -> None:
    found = told(ontoweir.open_project(folder), text)
    assert found == ask_duckdb(folder, text)
    assert found


PARTS = "SELECT ts, 'a' AS kind, t1 AS x FROM reading UNION ALL SELECT ts, 'b', t2 FROM reading r"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT kind, COUNT(x) FROM ({PARTS}) WHERE {EARLY} GROUP BY kind, date_trunc('hour', ts)",
        f"SELECT kind, COUNT(x) FROM ({PARTS}) u WHERE {EARLY} GROUP BY 1, date_trunc('hour', ts)",
        f"WITH u AS ({PARTS}) SELECT kind, SUM(x) FROM u WHERE {EARLY} GROUP BY kind, DATE(ts)",
        (
            "SELECT kind, room, MAX(x) AS m FROM (SELECT ts, 1 AS kind, a.room, t1 AS x "
            "FROM reading a UNION ALL SELECT ts, 2, room, t3 FROM reading) "
            f"WHERE {EARLY} GROUP BY kind, room, CAST(ts AS DATE)"
        ),
    ],
)
def test_parts_of_a_union_are_told_apart(folder: Path, text: str) -> None:
    found = told(ontoweir.open_project(folder), text)
    assert found == ask_duckdb(folder, text)
    assert len(found) > 3


def test_a_constant_alone_tells_no_groups_apart(folder: Path) -> None:
    text = "SELECT k, COUNT(*) AS n FROM (SELECT 'a' AS k, t1 FROM reading) GROUP BY k"
    with pytest.raises(QueryError, match="which is the constant 'a'"):
        ontoweir.open_project(folder).check(text)


def test_what_is_said_of_a_column(folder: Path) -> None:
    text = "SELECT sensor, x FROM reading UNPIVOT (x FOR sensor IN (t1 AS inlet, T2 AS 'out'))"
    plain = (
        "SELECT 'inlet' AS sensor, t1 AS x FROM reading WHERE t1 IS NOT NULL "
        "UNION ALL SELECT 'out', t2 FROM reading WHERE t2 IS NOT NULL"
    )
    assert told(ontoweir.open_project(folder), text) == ask_duckdb(folder, plain)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "SELECT x FROM reading UNPIVOT (x FOR k IN (t1, t9))",
            "UNPIVOT of t9, which is no column",
        ),
        ("SELECT x FROM reading UNPIVOT (x FOR k IN (ts))", "UNPIVOT of ts, which is no column"),
        (
            "SELECT x FROM reading UNPIVOT ((x, y) FOR k IN ((t1, t2) AS a))",
            "UNPIVOT of several values at once",
        ),
        (
            "SELECT x FROM (SELECT * FROM reading) UNPIVOT (x FOR k IN (t1, t2))",
            "UNPIVOT of a subquery",
        ),
        ("SELECT a FROM reading PIVOT (MAX(t1) FOR room IN ('x' AS a))", "PIVOT is outside"),
    ],
)
def test_what_is_refused(folder: Path, text: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        ontoweir.open_project(folder).check(text)
