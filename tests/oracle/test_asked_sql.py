"""What people ask of a stream in SQL (asked.sql): each question is answered as DuckDB answers the
same text, or refused with what to write instead."""

import os
import re
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import QueryError
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from tests.oracle.database import open_database

CATALOG = """
[streams.reading]
source = { format = "parquet", path = "reading.parquet" }
timestamp = { column = "ts", unit = "10 minutes" }
max_per_timestamp = 3
keys = [["sensor", "ts"]]

[streams.reading.columns]
sensor = { type = "string", enum = ["a", "b", "c"] }
value = { type = "double", nullable = true }
level = { type = "int", min = 0, max = 9, nullable = true }
note = { type = "string", nullable = true }
amount = "decimal(6,2)"

[streams.alarm]
source = { format = "parquet", path = "alarm.parquet" }
timestamp = { column = "ts", unit = "10 minutes" }
max_per_timestamp = 3
keys = [["sensor", "ts"]]

[streams.alarm.columns]
sensor = { type = "string", enum = ["a", "b", "c"] }
grade = { type = "int", min = 0, max = 3 }

[relations.sensor]
source = { format = "parquet", path = "sensor.parquet" }
keys = [["id"]]
max_rows = 3

[relations.sensor.columns]
id = "string"
city = "string"
high = { type = "int", nullable = true }

[project]
queries = []
"""
BEGIN = datetime(2026, 2, 27, 5)
TABLES = ("reading", "alarm", "sensor")
EARLY = "ts < TIMESTAMP '2026-02-28 18:00:00'"
QUESTIONS = Path(__file__).with_name("asked.sql").read_text(encoding="utf-8")
REFUSED = re.findall(r"^-- refused: (.*)\n(.*)$", QUESTIONS, re.MULTILINE)
BY_SPARK = re.findall(r"^-- Spark computes values:\n(.*)$", QUESTIONS, re.MULTILINE)
_NOT = {*(text for _, text in REFUSED), *BY_SPARK}
SAME = [q for q in QUESTIONS.splitlines() if q.startswith(("SELECT", "WITH")) and q not in _NOT]


def write_project(folder: Path, seed: int, steps: int) -> None:
    """A project of two streams and a register; the last row closes all buckets before."""
    random = Random(seed)
    (folder / "ontoweir.toml").write_text(CATALOG)
    rows: list[tuple[Any, ...]] = []
    alarms: list[tuple[Any, ...]] = []
    for step in range(steps):
        time = BEGIN + timedelta(minutes=10 * step)
        for sensor in random.sample("abc", k=random.randint(0, 3)):
            value = random.choice([None, random.uniform(-9, 9)])
            level, note = random.choice([None, *range(10)]), random.choice([None, "x", "yy", "z"])
            rows.append((time, sensor, value, level, note, Decimal(random.randint(-99, 999)) / 100))
        for sensor in random.sample("abc", k=random.choice([0, 0, 1, 2])):
            alarms.append((time, sensor, random.randint(0, 3)))
    last = BEGIN + timedelta(days=9)
    rows.append((last, "a", 1.0, 1, "x", Decimal(1)))
    alarms.append((last, "a", 1))
    stamp, text, whole = pa.timestamp("us"), pa.string(), pa.int64()
    kinds = {"ts": stamp, "sensor": text, "value": pa.float64(), "level": whole, "note": text}
    _write(folder / "reading.parquet", {**kinds, "amount": pa.decimal128(6, 2)}, rows)
    _write(folder / "alarm.parquet", {"ts": stamp, "sensor": text, "grade": whole}, alarms)
    sensors: list[tuple[Any, ...]] = [("a", "Kiel", 5), ("b", "Bonn", None), ("d", "Kiel", 7)]
    if seed != 5:
        cities = [random.choice(["Kiel", "Bonn", None]) for _ in "abd"]
        highs = [random.choice([None, *range(-3, 12)]) for _ in "abd"]
        sensors = list(zip("abd", cities, highs, strict=True))
    _write(folder / "sensor.parquet", {"id": text, "city": text, "high": whole}, sensors)


def _write(file: Path, kinds: dict[str, pa.DataType], rows: list[tuple[Any, ...]]) -> None:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(c, k) for c, k in zip(columns, kinds.values(), strict=True)]
    pq.write_table(pa.table(arrays, names=list(kinds)), file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("asked")
    write_project(made, 5, 300)
    return made


@pytest.fixture(scope="module")
def project(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


@pytest.mark.parametrize("text", SAME)
def test_it_is_as_duckdb_answers(folder: Path, project: OpenProject, text: str) -> None:
    text = text.replace("EARLY", EARLY)
    found = told(project, text)
    assert found == ask_duckdb(folder, text)
    assert found


def test_rows_of_a_register_of_which_no_column_is_read_are_counted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the second replay, too, which knows that its rows keep what is declared."""
    monkeypatch.setenv("ONTOWEIR_CACHE", str(tmp_path / "cache"))
    write_project(tmp_path, 5, 20)
    for file in tmp_path.glob("*.parquet"):
        os.utime(file, (1_700_000_000, 1_700_000_000))  # files of just now are not known again
    project = ontoweir.open_project(tmp_path)
    for text in (
        "SELECT r.sensor, s.city FROM reading r JOIN sensor s ON s.id = r.sensor",
        "SELECT r.sensor, r.ts FROM reading r CROSS JOIN sensor s",
        "SELECT r.sensor, r.ts FROM reading r CROSS JOIN sensor s",
        "SELECT r.sensor FROM reading r WHERE EXISTS (SELECT 1 FROM sensor s)",
    ):
        found = told(project, text)
        assert found == ask_duckdb(tmp_path, text)
        assert found


@pytest.mark.parametrize("text", BY_SPARK)
def test_it_is_as_duckdb_answers_by_spark(
    folder: Path, project: OpenProject, spark: object, text: str
) -> None:
    assert spark is not None  # one session of the process of all tests that need one
    test_it_is_as_duckdb_answers(folder, project, text)


@pytest.mark.parametrize(("said", "text"), REFUSED)
def test_what_is_refused_says_what_to_write(project: OpenProject, said: str, text: str) -> None:
    with pytest.raises(QueryError, match=re.escape(said)):
        project.check(text)


COLUMNS = ("sensor", "level", "UPPER(note)", "1", "CASE WHEN level > 4 THEN 'h' END", "level + 1")
BUCKETS = (
    "date_trunc('hour', ts)",
    "CAST(ts AS DATE)",
    "time_bucket(INTERVAL '70' MINUTE, ts, TIMESTAMP '2026-01-01')",
    "date_trunc('day', ts)",
)


@pytest.mark.many(2)
@pytest.mark.parametrize("seed", range(10))
def test_random_buckets_that_are_distinct(folder: Path, project: OpenProject, seed: int) -> None:
    """In the words DISTINCT and GROUP BY: the same, each once, when its bucket is over."""
    random = Random(seed)
    shown = [random.choice(BUCKETS), *random.sample(COLUMNS, k=random.randint(0, 3))]
    random.shuffle(shown)
    keep = random.choice(["", " AND level > 3", " AND value IS NOT NULL", " AND sensor <> 'b'"])
    items = ", ".join(f"{item} AS c{n}" for n, item in enumerate(shown))
    keys = ", ".join(f"c{n}" for n, item in enumerate(shown) if item != "1")
    expected = ask_duckdb(folder, f"SELECT DISTINCT {items} FROM reading WHERE {EARLY}{keep}")
    assert set(expected.values()) == {1}
    for text in (
        f"SELECT DISTINCT {items} FROM reading WHERE {EARLY}{keep}",
        f"SELECT {items} FROM reading WHERE {EARLY}{keep} GROUP BY {keys}",
    ):
        assert told(project, text) == expected, text


HERE = (
    "EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.ts = r.ts)",
    (
        "EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.ts = r.ts "
        "AND a.grade > r.level)"
    ),
    "EXISTS (SELECT 1 FROM sensor s WHERE s.id = r.sensor AND s.high > 4)",
    (
        "EXISTS (SELECT 1 FROM alarm b WHERE b.sensor = r.sensor AND b.ts > r.ts "
        "AND b.ts <= r.ts + INTERVAL '30' MINUTE)"
    ),
)
PLAIN = ("r.amount > 4", "r.amount < 1")


def draw_condition(random: Random, here: tuple[str, ...], depth: int = 2) -> str:
    """A condition of one row and of what is there beside it."""
    if not depth or random.random() < 0.2:
        return random.choice(random.choice([here, PLAIN]))
    if random.random() < 0.2:
        return f"NOT ({draw_condition(random, here, depth - 1)})"
    sides = [draw_condition(random, here, depth - 1) for _ in "ab"]
    return f"({random.choice([' OR ', ' AND ']).join(sides)})"


@pytest.mark.parametrize("seed", range(4))
def test_random_exists_inside_of_or(folder: Path, project: OpenProject, seed: int) -> None:
    random = Random(seed)
    here = tuple(random.sample(HERE, k=3))
    where = f"WHERE r.{EARLY} AND ({draw_condition(random, here)} OR {random.choice(here)})"
    soon = HERE[:3]
    now = f"WHERE r.{EARLY} AND ({draw_condition(random, soon)} OR {random.choice(soon)})"
    value = f"CASE WHEN {random.choice(HERE)} THEN 'y' WHEN r.level > 3 THEN 'n' ELSE r.note END"
    for text in (
        f"SELECT r.sensor, r.ts, r.level FROM reading r {where}",
        f"SELECT r.sensor, {value} AS x FROM reading r WHERE r.{EARLY}",
        (
            f"SELECT r.sensor, date_trunc('hour', r.ts) AS h, COUNT(*) AS n, SUM(r.level) AS s "
            f"FROM reading r {now} GROUP BY r.sensor, h HAVING COUNT(*) > 1"
        ),
    ):
        assert told(project, text) == ask_duckdb(folder, text), text


def test_the_first_and_the_last_value_of_a_table_of_windows(
    folder: Path, project: OpenProject
) -> None:
    width = "INTERVAL '2' HOUR"
    table = f"TABLE(TUMBLE(TABLE reading, DESCRIPTOR(ts), {width}))"
    ours = "SELECT window_start, sensor, FIRST(level, ts) AS f, LAST(note, ts) AS l, COUNT(*) AS n "
    ours += f"FROM {table} WHERE {EARLY} GROUP BY window_start, window_end, sensor"
    duck = f"SELECT time_bucket({width}, ts) AS b, sensor, FIRST(level ORDER BY ts) AS f, "
    duck += f"LAST(note ORDER BY ts) AS l, COUNT(*) AS n FROM reading WHERE {EARLY} GROUP BY 1, 2"
    assert told(project, ours) == ask_duckdb(folder, duck)


@pytest.mark.parametrize("seed", range(4))
def test_random_counts_of_several_exists(folder: Path, project: OpenProject, seed: int) -> None:
    """Of a group, how many rows there are with each of them beside."""
    random = Random(seed)
    asked = random.sample(HERE[:3], k=random.choice([2, 2, 3]))
    forms = ("COUNT_IF({})", "COUNT_IF(NOT {})", "SUM(CASE WHEN {} THEN r.level ELSE 0 END)")
    calls = [random.choice(forms).format(one) for one in asked]
    calls.append(random.choice(["COUNT(*)", "SUM(r.amount)", "MAX(r.level)"]))
    shown = ", ".join(f"{call} AS c{n}" for n, call in enumerate(calls))
    bucket = random.choice(["date_trunc('hour', r.ts)", "date_trunc('day', r.ts)"])
    text = f"SELECT r.sensor, {bucket} AS b, {shown} FROM reading r WHERE r.{EARLY} GROUP BY 1, b"
    assert told(project, text) == ask_duckdb(folder, text), text


LAGS = (
    (
        "SELECT r.sensor, r.ts, a.grade FROM reading r JOIN alarm a ON a.sensor = r.sensor AND {} "
        "WHERE {}"
    ),
    (
        "SELECT r.sensor, r.ts FROM reading r WHERE r.EARLY AND NOT EXISTS (SELECT 1 FROM alarm a "
        "WHERE a.sensor = r.sensor AND {} AND NOT ({}))"
    ),
)
UNITS = {"MINUTE": 60, "HOUR": 3600, "SECOND": 1}


def draw_lag(random: Random) -> tuple[str, str]:
    """How long an alarm is after a reading, compared with a number: ours, and DuckDB's."""
    unit = random.choice([*UNITS])
    number = random.choice([0, 1, -1, 20, 30, 35, -30, 0.5, 1800, -1200]) * (60 // UNITS[unit] or 1)
    number = int(number) if number == int(number) else number
    match random.randint(0, 3):
        case 0:
            ours = f"TIMESTAMPDIFF({unit}, r.ts, a.ts)"
            duck = f"datesub('{unit}', r.ts, a.ts)"
        case 1:
            ours = duck = f"EXTRACT(EPOCH FROM a.ts - r.ts) / {UNITS[unit]}"
        case 2:
            ours = "UNIX_TIMESTAMP(a.ts) - UNIX_TIMESTAMP(r.ts)"
            duck = "EPOCH(a.ts) - EPOCH(r.ts)"
        case _:
            ours = duck = "EPOCH(a.ts) - EPOCH(r.ts)"
    if random.random() < 0.3:
        number, op = abs(number), random.choice(["<", "<="])
        return f"ABS({ours}) {op} {number}", f"ABS({duck}) {op} {number}"
    if random.random() < 0.2:
        return (
            f"{ours} BETWEEN {number} AND {number + 2}",
            f"{duck} BETWEEN {number} AND {number + 2}",
        )
    op = random.choice(["<", "<=", ">", ">=", "="])
    if random.random() < 0.2:
        return f"{number} {op} {ours}", f"{number} {op} {duck}"
    return f"{ours} {op} {number}", f"{duck} {op} {number}"


@pytest.mark.many(2)
@pytest.mark.parametrize("seed", range(8))
def test_random_measures_of_how_much_later(folder: Path, project: OpenProject, seed: int) -> None:
    """They bound how far rows are apart, as comparisons of their times do."""
    random = Random(seed)
    near = "a.ts BETWEEN r.ts - INTERVAL '2' HOUR AND r.ts + INTERVAL '2' HOUR"
    for _ in range(4):
        ours, duck = draw_lag(random)
        shape = random.choice(LAGS).replace("EARLY", EARLY)
        assert told(project, shape.format(near, ours)) == ask_duckdb(
            folder, shape.format(near, duck)
        ), ours


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "="])
def test_whole_units_are_cut_off_towards_0(folder: Path, project: OpenProject, op: str) -> None:
    """Rows are 10 minutes apart: of those at each limit, and beside 0."""
    near = "a.ts BETWEEN r.ts - INTERVAL '2' HOUR AND r.ts + INTERVAL '2' HOUR"
    text = "SELECT r.sensor, r.ts, a.ts AS x FROM reading r JOIN alarm a ON a.sensor = r.sensor "
    for unit, limit in (("MINUTE", 9), ("MINUTE", -9), ("MINUTE", 10), ("HOUR", 0), ("HOUR", -1)):
        ours = f"{text} AND {near} AND TIMESTAMPDIFF({unit}, r.ts, a.ts) {op} {limit}"
        duck = f"{text} AND {near} AND datesub('{unit}', r.ts, a.ts) {op} {limit}"
        assert told(project, ours) == ask_duckdb(folder, duck), ours


@pytest.mark.parametrize(
    "bound",
    [
        "TIMESTAMPDIFF(MINUTE, r.ts, a.ts) < 40",
        "EXTRACT(EPOCH FROM a.ts - r.ts) / 60 <= 40",
        "UNIX_TIMESTAMP(a.ts) - UNIX_TIMESTAMP(r.ts) < 2400",
        "ABS(EPOCH(a.ts) - EPOCH(r.ts)) < 2400",
    ],
)
def test_measures_of_how_much_later_bound(project: OpenProject, bound: str) -> None:
    text = "SELECT r.sensor, r.value, a.grade FROM reading r JOIN alarm a ON a.sensor = r.sensor"
    text += " AND a.ts >= r.ts"
    assert project.check(f"{text} AND {bound}").bound is not None
    assert project.check(f"{text} AND {bound.replace('<', '>')}").bound is None


NUMBERS = ("level", "amount", "level * 2", "level + amount", "level - 4", "value", "value * 3")
PAIRS = ("COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE", "REGR_INTERCEPT")


@pytest.mark.parametrize("seed", range(5))
def test_random_covariances(folder: Path, project: OpenProject, seed: int) -> None:
    """Of exact sums: as DuckDB's but for the last digits, which its own sums of doubles lose."""
    random = Random(seed)
    calls = [f"{f}({', '.join(random.choices(NUMBERS, k=2))})" for f in random.sample(PAIRS, k=2)]
    shown = ", ".join(f"{call} AS c{n}" for n, call in enumerate(calls))
    bucket = random.choice(BUCKETS)
    text = f"SELECT sensor, {bucket} AS b, {shown} FROM reading WHERE {EARLY} GROUP BY sensor, b"
    found, expected = told(project, text), ask_duckdb(folder, text)
    ours, theirs = ({row[:2]: row[2:] for row in rows} for rows in (found, expected))
    assert ours.keys() == theirs.keys()
    for key, values in ours.items():
        for mine, other in zip(values, theirs[key], strict=True):
            if mine is None or other is None or other != other:
                assert mine is None or "CORR" in text, (text, key, mine, other)
                assert other is None or other != other or abs(other) < 1e-6, (text, key, other)
            else:
                assert mine == pytest.approx(other, rel=1e-9, abs=1e-9), (text, key)
    assert any(None not in values for values in ours.values())


ENDS = ("ARG_MAX({0}, ts)", "ARG_MIN({0}, ts)", "FIRST({0} ORDER BY ts)", "LAST({0} ORDER BY ts)")


OTHERS = ("note", "level > 3", "CAST(ts AS DATE)", "NULLIF(note, 'x')", "value / 3", "ts")


@pytest.mark.parametrize("seed", range(6))
def test_random_first_and_last_values(folder: Path, project: OpenProject, seed: int) -> None:
    """Beside each other and other aggregates; ARG_MAX passes over NULL, FIRST does not."""
    random = Random(seed)
    calls = []
    for form in random.choices(ENDS, k=2):
        calls.append(form.format(random.choice(NUMBERS)))
    calls += random.sample(["COUNT(*)", "AVG(value)", "MAX(level)", f"{calls[0]} + 1"], k=2)
    calls.append(random.choice(ENDS).format(random.choice(OTHERS)))
    shown = ", ".join(f"{call} AS c{n}" for n, call in enumerate(calls))
    bucket, where = random.choice(BUCKETS), random.choice(["", " AND level <> 3"])
    having = random.choice(["", " HAVING COUNT(*) > 1", f" HAVING {calls[1]} > 2"])
    keys = "GROUP BY sensor, b" + having
    text = f"SELECT sensor, {bucket} AS b, {shown} FROM reading WHERE {EARLY}{where} {keys}"
    found = told(project, text)
    assert found == ask_duckdb(folder, text), text
    assert found


VALUES = (
    "MIN(high)",
    "MAX(high)",
    "AVG(high)",
    "SUM(high)",
    "COUNT(high)",
    "MAX(high) - MIN(high)",
)
BESIDE = (
    "SELECT sensor, level FROM reading WHERE level {op} {value}",
    "SELECT sensor, ts, level + {value} AS x FROM reading WHERE level IS NOT NULL",
    "SELECT DISTINCT sensor, {value} AS x FROM reading WHERE level {op} 4 OR level > {value}",
    (
        "SELECT date_trunc('hour', ts) AS h, sensor, COUNT(*) AS n, MAX(level) - {value} AS x "
        "FROM reading WHERE ts < TIMESTAMP '2026-02-27 18:00:00' AND level IS NOT NULL "
        "GROUP BY h, sensor HAVING MAX(level) {op} {value}"
    ),
    (
        "SELECT r.sensor, r.level, c.x FROM reading r JOIN sensor s ON s.id = r.sensor "
        "JOIN (SELECT city, {plain} AS x FROM sensor GROUP BY city) c ON c.city = s.city "
        "WHERE r.level {op} c.x"
    ),
    (
        "SELECT a.sensor, b.level FROM alarm a JOIN reading b ON b.sensor = a.sensor "
        "AND b.ts > a.ts "
        "AND b.ts <= a.ts + INTERVAL '1' HOUR WHERE b.level {op} {value}"
    ),
)


@pytest.mark.parametrize("seed", range(3))
def test_random_values_of_a_register(tmp_path: Path, seed: int) -> None:
    """Each is computed before the run; the SQL that is printed says the same."""
    random = Random(seed)
    write_project(tmp_path, seed + 100, 100)
    project, catalog = ontoweir.open_project(tmp_path), load_project(tmp_path, environ={}).catalog
    seen = 0
    for shape in BESIDE:
        plain, op = random.choice(VALUES), random.choice(["<", ">=", "="])
        text = shape.format(op=op, plain=plain, value=f"(SELECT {plain} FROM sensor)")
        expected = ask_duckdb(tmp_path, text)
        assert told(project, text) == expected, text
        union = parse_sql(text, catalog, name="q", file="q.sql")
        assert union.statics, text
        if union.aggregation is None:
            printed = print_sql(union, catalog, dialect="duckdb", comments=False)
            assert set(ask_duckdb(tmp_path, printed)) == set(expected), printed
        seen += len(expected)
    assert seen


@pytest.mark.parametrize(
    "text",
    [
        (
            "SELECT sensor, ARG_MAX(level, ts) AS l, ARG_MAX(value, ts) AS v, "
            "ARG_MAX(note, ts) AS n FROM reading GROUP BY sensor"
        ),
        "SELECT sensor, ARG_MIN(level, ts) AS l, ARG_MIN(note, ts) AS n FROM reading GROUP BY 1",
    ],
)
def test_latest_values_of_several_columns(folder: Path, project: OpenProject, text: str) -> None:
    """Each passes over rows without a value, so that they are of different rows."""
    assert told(project, text, final=True) == ask_duckdb(folder, text)


def told(project: OpenProject, text: str, *, final: bool = False) -> Counter[Any]:
    """All answers of a replay, with how often each is there."""
    table = project.replay(text, final=final).to_arrow()
    names = [n for n in table.column_names if n not in ("at", "until", "multiplicity")]
    found: Counter[Any] = Counter()
    for row in table.to_pylist():
        found[tuple(_plain(row[n]) for n in names)] += row.get("multiplicity", 1)
    return found


def ask_duckdb(folder: Path, text: str) -> Counter[Any]:
    """What DuckDB answers over the whole history."""
    with open_database() as base:
        for name in TABLES:
            base.execute(f"CREATE TEMP VIEW {name} AS FROM '{folder / name}.parquet'")
        return Counter(tuple(map(_plain, row)) for row in base.execute(text).fetchall())


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return float(f"{value:.12g}") if isinstance(value, float) else value
