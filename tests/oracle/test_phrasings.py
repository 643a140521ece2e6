"""Phrasings of SQL over a history of some days: what is final of it is as DuckDB answers."""

import re
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.errors import QueryError
from tests.oracle.database import open_database

CATALOG = """
[streams.reading]
source = { format = "parquet", path = "reading.parquet" }
timestamp = { column = "ts", unit = "30 minutes" }
max_per_timestamp = 3
keys = [["sensor", "ts"]]

[streams.reading.columns]
sensor = { type = "string", enum = ["a", "b", "c"] }
value = "double"
level = { type = "int", min = 0, max = 9 }

[relations.sensor]
source = { format = "parquet", path = "sensor.parquet" }
keys = [["id"]]
max_rows = 3

[relations.sensor.columns]
id = "string"
city = "string"

[project]
queries = []
"""
BEGIN = datetime(2026, 2, 27, 5)
LAST = date(2026, 3, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project; the last row, of another day, closes all buckets before."""
    random, made = Random(5), tmp_path_factory.mktemp("days")
    (made / "ontoweir.toml").write_text(CATALOG)
    rows = []
    for step in range(150):
        time = BEGIN + timedelta(minutes=30 * step)
        for sensor in random.sample("abc", k=random.randint(0, 3)):
            level = random.choice([None, *range(10)])
            rows.append((time, sensor, random.choice([None, random.uniform(-9, 9)]), level))
    rows.append((datetime(2026, 3, 3), "a", 1.0, 1))
    columns = [list(c) for c in zip(*rows, strict=True)]
    names = ["ts", "sensor", "value", "level"]
    kinds = [pa.timestamp("us"), pa.string(), pa.float64(), pa.int64()]
    arrays = [pa.array(c, k) for c, k in zip(columns, kinds, strict=True)]
    pq.write_table(pa.table(arrays, names=names), made / "reading.parquet")
    sensors = pa.table({"id": ["a", "b"], "city": ["Kiel", "Bonn"]})
    pq.write_table(sensors, made / "sensor.parquet")
    return made


QUERIES = """
SELECT CAST(ts AS DATE) AS d, COUNT(*) AS n, AVG(value) AS a FROM reading GROUP BY d;
SELECT DATE(ts) AS d, sensor, MAX(level) AS m FROM reading GROUP BY ALL;
SELECT sensor, ts::date AS d, COUNT_IF(level > 4) AS n FROM reading GROUP BY ALL ORDER BY d;
SELECT YEAR(ts) AS y, MONTH(ts) AS m, DAY(ts) AS d, COUNT(level) AS n FROM reading
  GROUP BY YEAR(ts), MONTH(ts), DAY(ts);
SELECT CAST(ts AS DATE) AS d, HOUR(ts) AS h, BOOL_OR(level > 7) AS o, BOOL_AND(value > 0) AS e
  FROM reading GROUP BY 1, 2;
SELECT YEAR(ts) AS y, MONTH(ts) AS m, COUNT(*) AS n FROM reading GROUP BY y, m;
SELECT STRFTIME(ts, '%Y-%m-%d') AS d, MIN(value) AS v FROM reading GROUP BY d;
SELECT CAST(ts AS DATE) AS d, sensor, COUNT_IF(level > 4) FILTER (WHERE value > 0) AS n,
  BOOL_OR(level > 8) FILTER (WHERE value < 0) AS o FROM reading GROUP BY d, sensor
  HAVING COUNT(*) > 3;
SELECT date_trunc('day', ts) AS d, sensor, ARG_MAX(level, ts) AS l FROM reading GROUP BY 1, 2
  HAVING l > 3;
SELECT CAST(ts AS DATE) AS d, sensor FROM reading GROUP BY d, sensor
  HAVING ARG_MAX(level, ts) BETWEEN 2 AND 6;
SELECT level AS v, CAST(ts AS DATE) AS d, COUNT(*) AS n FROM reading GROUP BY v, d
  QUALIFY RANK() OVER (PARTITION BY CAST(ts AS DATE) ORDER BY level DESC) <= 3;
SELECT d, n FROM (SELECT CAST(ts AS DATE) AS d, COUNT(*) AS n FROM reading GROUP BY d) AS x
  WHERE n > 40;
SELECT ts, EPOCH(ts) AS e, DATE_PART('minute', ts) AS p FROM reading WHERE level > 7 ORDER BY ts;
SELECT sensor, level FROM reading EXCEPT SELECT id, 4 FROM sensor;
SELECT sensor FROM reading EXCEPT SELECT id FROM sensor WHERE city = 'Kiel';
SELECT r.sensor, r.level FROM reading r INTERSECT SELECT id, 3 FROM sensor s;
SELECT r.ts, r.sensor FROM reading r WHERE (SELECT COUNT(*) FROM reading o
  WHERE o.sensor = r.sensor AND o.ts < r.ts AND o.ts > r.ts - INTERVAL '2' HOUR) = 0;
SELECT r.ts, r.sensor FROM reading r WHERE 1 <= (SELECT COUNT(o.level) FROM reading o
  WHERE o.sensor = r.sensor AND o.ts < r.ts AND o.ts > r.ts - INTERVAL '2' HOUR);
SELECT ts, sensor, level FROM reading WHERE level > ANY (SELECT o.level FROM reading o
  WHERE o.ts < reading.ts AND o.ts > reading.ts - INTERVAL '1' HOUR);
SELECT ts, sensor FROM reading WHERE ts <= ALL (SELECT o.ts FROM reading o
  WHERE o.sensor = reading.sensor);
SELECT ts, sensor FROM reading WHERE sensor <> ALL (SELECT id FROM sensor WHERE city = 'Kiel');
SELECT ts, sensor FROM reading WHERE sensor = ANY (SELECT id FROM sensor WHERE city = 'Kiel');
SELECT sensor, MIN_BY(level, ts) AS l FROM reading GROUP BY sensor;
SELECT CAST(ts AS DATE) AS d, COUNT_IF(EXISTS (SELECT 1 FROM reading o WHERE o.sensor = r.sensor
  AND o.level > 6 AND o.ts < r.ts AND o.ts > r.ts - INTERVAL '2' HOUR)) AS n FROM reading r
  GROUP BY d;
SELECT CAST(ts AS DATE) AS d, COUNT(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM reading o
  WHERE o.sensor = r.sensor AND o.ts < r.ts AND o.ts > r.ts - INTERVAL '2' HOUR) AND level > 2) AS n
  FROM reading r GROUP BY d;
SELECT CAST(r.ts AS DATE) AS d, sensor, COUNT(*) AS n, SUM(CASE WHEN EXISTS (SELECT 1 FROM reading o
  WHERE o.sensor = r.sensor AND o.level > 6 AND o.ts < r.ts AND o.ts > r.ts - INTERVAL '2' HOUR)
  THEN level ELSE 0 END) AS s FROM reading r GROUP BY d, sensor;
SELECT CAST(u.ts AS DATE) AS d, SUM(x) AS s, MIN(x) AS l FROM (SELECT ts, 1 AS x FROM reading
  WHERE level > 3 UNION ALL SELECT ts, -2 FROM reading WHERE value > 0) AS u GROUP BY d;
SELECT CAST(u.ts AS DATE) AS d, COUNT(x) AS s, MAX(y) AS l FROM (SELECT ts, level AS x, level AS y
  FROM reading UNION ALL SELECT ts, level + 1, level FROM reading WHERE value > 0) AS u GROUP BY d;
SELECT sensor, ts, level, RANK() OVER w AS r, COUNT(level) OVER v AS n FROM reading
  WHERE level > 1 WINDOW v AS (PARTITION BY CAST(ts AS DATE)), w AS (v ORDER BY level DESC);
SELECT CAST(ts AS DATE) AS d, APPROX_COUNT_DISTINCT(sensor) AS n FROM reading GROUP BY d;
SELECT r.ts, x.v, r.sensor FROM reading r, LATERAL (SELECT o.level AS v FROM reading o
  WHERE o.sensor = r.sensor AND o.ts < r.ts AND o.level IS NOT NULL ORDER BY o.ts DESC LIMIT 1) x
  WHERE r.level > 3
"""
BY_DAY = (
    "SELECT CAST(ts AS DATE) AS d, sensor, ARG_MAX(level, ts) AS l FROM reading GROUP BY sensor, d",
    "SELECT CAST(ts AS DATE) AS d, ARG_MIN(level, ts) AS l, sensor FROM reading GROUP BY ALL",
    "SELECT date_trunc('day', ts) AS d, sensor, MIN_BY(value, ts) AS v FROM reading GROUP BY 1, 2",
)
# what is refused, and what it says to write
REFUSED = """
SELECT sensor FROM reading QUALIFY RANK() OVER (PARTITION BY sensor ORDER BY level DESC) > 2
# number its groups
SELECT sensor FROM reading WHERE level >= ALL (SELECT o.level FROM reading o)
# limit how much later
SELECT sensor FROM reading WHERE ts >= ALL (SELECT ts FROM reading)
# different aliases
SELECT sensor FROM reading r WHERE level = (SELECT AVG(o.level) FROM reading o)
# ASOF JOIN
SELECT sensor, ts, COUNT(*) FROM reading GROUP BY sensor
# leave it out: `at` says since when a row holds; write MAX(ts)
SELECT sensor, HOUR(ts), COUNT(*) FROM reading GROUP BY sensor
# HOUR(ts) neither grouped nor aggregated
SELECT a.level FROM reading a JOIN reading r ON a.sensor = r.sensor AND r.ts = a.ts + 3600
# INTERVAL '3600' SECOND
"""


@pytest.mark.parametrize(
    "having",
    [
        "ARG_MAX(level, ts) > 2 OR ARG_MAX(level, ts) < 1",
        "l > 2",
        "l >= 1 AND sensor <> 'a'",
    ],
)
def test_having_of_the_latest_value(folder: Path, having: str) -> None:
    """What holds in the end, of what began and ended."""
    text = f"SELECT sensor, ARG_MAX(level, ts) AS l FROM reading r GROUP BY sensor HAVING {having}"
    held: Counter[tuple[object, ...]] = Counter()
    for (*row, op), count in _found(ontoweir.open_project(folder).replay(text)).items():
        held[tuple(row)] += count if op == "+" else -count
    assert +held == _ask_duckdb(folder, text)
    assert held


@pytest.mark.parametrize(
    "condition",
    [
        "r.ts - a.ts BETWEEN 1800 AND 7200",
        "0 < r.ts - a.ts AND 3600.5 >= r.ts - a.ts",
        "r.ts - a.ts + 60 = 3660",
        "(r.ts - a.ts) / 60 > 45 AND r.ts - a.ts BETWEEN 0 AND 7200",
        "a.ts - r.ts >= -1800 AND r.ts > a.ts",
    ],
)
def test_a_difference_of_times_is_compared_with_seconds(folder: Path, condition: str) -> None:
    """As what SELECT shows of it; in DuckDB it is an INTERVAL."""
    text = (
        "SELECT a.sensor, a.ts AS x, {} AS s FROM reading a "
        "JOIN reading r ON a.sensor = r.sensor AND {}"
    )
    found = _found(ontoweir.open_project(folder).replay(text.format("r.ts - a.ts", condition)))
    duck = re.sub(r"([ar]\.ts) - ([ar]\.ts)", r"EXTRACT(EPOCH FROM (\1 - \2))", condition)
    epoch = "EXTRACT(EPOCH FROM (r.ts - a.ts))"
    assert found == _ask_duckdb(folder, text.format(epoch, duck))
    assert found


@pytest.mark.parametrize("text", BY_DAY)
def test_the_first_and_the_last_value_of_a_day(folder: Path, text: str) -> None:
    """The first one is final at once, the last one when none of its day can come any more, a day
    less a step after it."""
    found = _found(ontoweir.open_project(folder).replay(text))
    until = date(2026, 3, 1) if "MAX" in text else LAST
    assert found == Counter(
        {row: n for row, n in _ask_duckdb(folder, text).items() if str(row[0])[:10] <= str(until)}
    )
    assert len(found) > 2


@pytest.mark.parametrize("having", ["", " HAVING ARG_MAX(level, ts) > 3"])
@pytest.mark.parametrize("call", ["ARG_MAX(value, ts)", "MIN_BY(level, ts)"])
def test_the_first_and_the_last_value_of_a_table_of_windows(
    folder: Path, call: str, having: str
) -> None:
    """The window is one bucket, though it is grouped by its begin and its end."""
    project, width = ontoweir.open_project(folder), "INTERVAL '6' HOUR"
    of = f"FROM TABLE(TUMBLE(TABLE reading, DESCRIPTOR(ts), {width}))"
    text = f"SELECT window_start, sensor, {call} AS v, MAX(level) AS m {of}"
    found = _found(project.replay(f"{text} GROUP BY window_start, window_end, sensor{having}"))
    begin = f"time_bucket({width}, ts)"
    duck = f"SELECT {begin} AS b, sensor, {call} AS v, MAX(level) AS m FROM reading GROUP BY 1, 2"
    duck += having
    expected = _ask_duckdb(folder, duck)
    assert found == Counter({r: n for r, n in expected.items() if str(r[0])[:10] < str(LAST)})
    assert len(found) > 2


@pytest.mark.parametrize("case", re.findall(r"(SELECT.*)\n# (.*)", REFUSED))
def test_what_is_refused_says_what_to_write(folder: Path, case: tuple[str, str]) -> None:
    text, fix = case
    with pytest.raises(QueryError, match=re.escape(fix)):
        ontoweir.open_project(folder).replay(text)


@pytest.mark.parametrize("text", [q.strip() for q in QUERIES.split(";")])
def test_it_is_as_duckdb_answers(folder: Path, text: str) -> None:
    answers = ontoweir.open_project(folder).replay(text)
    found, expected = _found(answers), _ask_duckdb(folder, text)
    for row in list(expected):
        month = "MONTH" in text and "DAY" not in text
        if _is_open(row) or (month and row[:2] == (2026, 3)):
            del expected[row]
        elif any(c is None for c in row) and "GROUP BY" not in text:
            del expected[row]  # no column is declared nullable
    assert found == expected
    assert found


WINDOW = "(PARTITION BY sensor ORDER BY ts RANGE BETWEEN {} AND INTERVAL '1' HOUR FOLLOWING)"


@pytest.mark.parametrize("begin", ["CURRENT ROW", "INTERVAL '2' HOUR PRECEDING"])
@pytest.mark.parametrize(
    "calls", ["COUNT(*) OVER w, MAX(level) OVER w", "value - AVG(value) OVER w"]
)
def test_windows_that_end_after_the_row(folder: Path, begin: str, calls: str) -> None:
    """A row is told when no other can be in its window any more."""
    text = f"SELECT sensor, ts, {calls} FROM reading WINDOW w AS {WINDOW.format(begin)}"
    answers = ontoweir.open_project(folder).replay(text)
    for row in answers.to_arrow().to_pylist():
        assert row["at"].replace(tzinfo=None) == row["ts"].replace(tzinfo=None) + timedelta(hours=1)
    until = datetime(2026, 3, 2, 23)
    expected = _ask_duckdb(folder, text)
    final = Counter({row: n for row, n in expected.items() if row[1] <= until})
    assert _found(answers) == final
    assert final


def _found(answers: Any) -> Counter[Any]:
    table = answers.to_arrow()
    names = [n for n in table.column_names if n not in ("at", "multiplicity")]
    found: Counter[Any] = Counter()
    for row in table.to_pylist():
        found[tuple(_plain(row[n]) for n in names)] += row.get("multiplicity", 1)
    return found


def _ask_duckdb(folder: Path, text: str) -> Counter[Any]:
    with open_database() as base:
        for name in ("reading", "sensor"):
            base.execute(f"CREATE TEMP VIEW {name} AS FROM '{folder / name}.parquet'")
        return Counter(tuple(map(_plain, row)) for row in base.execute(text).fetchall())


def _is_open(row: tuple[Any, ...]) -> bool:
    """Whether it is of the day whose end the history does not reach."""
    return LAST in row or str(LAST) in row or row[:3] == (2026, 3, 3)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, bool) or value is None or isinstance(value, (date, str)):
        return value
    return round(float(value), 9)
