"""Groups by another time of a row than its timestamp, the minute in which it was measured, and of
rows that are given with the next one: final when no row of them may come, as DuckDB answers."""

from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_stacked_queries import make_job
from tests.runtime.harness import make_catalog

START = datetime(2026, 1, 1)
STREAM = """\
[streams.m]
source = { format = "parquet", path = "m.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 9
keys = [["k", "ts"]]
[streams.m.columns]
k = { type = "int", min = 0, max = 2 }
e = { type = "timestamp", nullable = true }
v = "int"
"""
BEHIND = (
    "{e} >= ts - INTERVAL '{n}' SECOND",
    "ts <= {e} + INTERVAL '{n}' SECOND",
    "ts - INTERVAL '{n}' SECOND < {e}",
    "EXTRACT(EPOCH FROM ts - {e}) <= {n}",
)
AHEAD = (
    "{e} <= ts + INTERVAL '{n}' SECOND",
    "{e} - INTERVAL '{n}' SECOND < ts",
    "EXTRACT(EPOCH FROM {e} - ts) <= {n}",
)
BOTH = (
    "{e} BETWEEN ts - INTERVAL '{n}' SECOND AND ts + INTERVAL '{n}' SECOND",
    "ABS(EXTRACT(EPOCH FROM {e} - ts)) <= {n}",
    "{e} = ts - INTERVAL '{n}' SECOND",
)
CUTS = ("DATE_TRUNC('minute', {e})", "DATE_TRUNC('hour', {e})", "{e}", "CAST({e} AS DATE)")
WIDTHS = (60, 3600, 0, 86_400)
CALLS = ("COUNT(*)", "SUM(v)", "AVG(v)", "MAX(v)", "COUNT(DISTINCT v)", "MIN(k)")
LEAD = "(SELECT k, v, ts AS e, LEAD(ts) OVER (PARTITION BY k ORDER BY ts) AS ts FROM m) AS x"


def write(folder: Path, random: Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    span = random.choice([240, 240, 9_000, 300_000])
    for second in sorted(random.sample(range(span), k=60)):
        ts = START + timedelta(seconds=second)
        away = random.choice([0, random.randint(-90, 90), random.randint(-40, 0), 20])
        e = None if random.random() < 0.1 else ts + timedelta(seconds=away)
        rows.append((ts, random.randrange(3), e, random.randrange(6)))
    stamp, whole = pa.timestamp("us"), pa.int64()
    schema = pa.schema([("ts", stamp), ("k", whole), ("e", stamp), ("v", whole)])
    columns = {n: [row[i] for row in rows] for i, n in enumerate(schema.names)}
    pq.write_table(pa.table(columns, schema), folder / "m.parquet")
    return rows


def make_query(random: Random) -> tuple[str, str]:
    """A text, and when its groups are final, as DuckDB computes it of their rows."""
    lead, n = random.random() < 0.4, random.choice([0, 5, 40])
    source = LEAD if lead else "m"
    if lead:
        said, ahead = [random.choice(BEHIND).format(e="e", n=n)], 0
    elif random.random() < 0.3:
        of = random.choice(BOTH)
        said, ahead = [of.format(e="e", n=n)], -n if " = " in of else n
    else:
        ahead = random.choice([0, 20])
        said = [random.choice(some).format(e="e", n=m) for some, m in ((BEHIND, n), (AHEAD, ahead))]
    if random.random() < 0.3:
        said.append("v > 1")
    random.shuffle(said)
    place = random.randrange(len(CUTS))
    cut = CUTS[place].format(e="e")
    more = [] if place == 2 else ["v"] if lead else ["k"]  # a time itself is over for all of them
    keys = [cut, *(more if random.random() < 0.5 else [])]
    calls = random.sample(CALLS, k=2)
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate([*keys, *calls]))
    having = random.choice(["", "", " HAVING COUNT(*) > 1"])
    text = f"SELECT {listed} FROM {source} WHERE {' AND '.join(said)} GROUP BY {', '.join(keys)}"
    begins = f"CAST({cut} AS TIMESTAMP)" if WIDTHS[place] else "MIN(ts)"
    after = n + (WIDTHS[place] or ahead)
    final = f"{begins} + INTERVAL '{after}' SECOND AS final"
    return text + having, text.replace("SELECT ", f"SELECT {final}, ", 1) + having


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return round(float(value), 6) if isinstance(value, (int, float)) else value


def replay(text: str, catalog: Catalog, output: Path, rows: int) -> list[tuple[Any, ...]]:
    """When each answer was given, and the answer; the state is held to its bound."""
    union = parse_sql(text, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    assert verdict.plans is not None, text
    job = make_job(verdict, union, catalog)
    request = ReplayRequest(output, "parquet", engine="driver", text_here=True, rows_per_chunk=rows)
    replay_history(job, request)
    made = [
        tuple(plain(v) for n, v in row.items() if n not in ("at", "multiplicity"))
        for row in pq.read_table(output).to_pylist()
    ]
    times = pq.read_table(output).column("at").to_pylist()
    return sorted([(plain(at), *row) for at, row in zip(times, made, strict=True)], key=str)


def check(seed: int, folder: Path) -> None:
    random = Random(seed)
    rows = write(folder, random)
    catalog = make_catalog(folder, STREAM)
    text, duck = make_query(random)
    base = duckdb.connect()
    base.execute(f"CREATE VIEW m AS FROM '{folder / 'm.parquet'}'")
    told = [tuple(map(plain, row)) for row in base.execute(duck).fetchall()]
    expected = sorted([row for row in told if row[0] <= rows[-1][0]], key=str)
    for size in (1, 7, 1000):
        assert replay(text, catalog, folder / "out.parquet", size) == expected, (text, size)


def check_here(seed: int) -> None:
    with TemporaryDirectory() as folder:
        check(seed, Path(folder))


@budget(0.6)
@given(seed=SEEDS)
def test_groups_of_another_time_are_final_in_time(seed: int) -> None:
    check_here(seed)


ROUNDED = (
    ("CAST(e AS DATE) = CAST(ts AS DATE)", None),
    ("CAST(ts AS DATE) = CAST(e AS DATE) AND e <= ts", None),
    ("DATE_TRUNC('minute', e) = DATE_TRUNC('minute', ts)", None),
    ("DATE_TRUNC('hour', e) = DATE_TRUNC('hour', ts) AND v > 1", None),
    ("DATE_TRUNC('minute', e) BETWEEN ts - INTERVAL '1' MINUTE AND ts", None),
    (
        "TIMESTAMPDIFF(SECOND, e, ts) BETWEEN -3 AND 20",
        "DATESUB('second', e, ts) BETWEEN -3 AND 20",
    ),
    ("ABS(TIMESTAMPDIFF(MINUTE, ts, e)) <= 0", "ABS(DATESUB('minute', ts, e)) <= 0"),
    (
        "TIMESTAMPDIFF(MINUTE, e, ts) = 1 AND e IS NOT NULL",
        "DATESUB('minute', e, ts) = 1 AND e IS NOT NULL",
    ),
    ("DATEDIFF(ts, e) BETWEEN 0 AND 1", "DATEDIFF('day', e, ts) BETWEEN 0 AND 1"),
    ("EXTRACT(EPOCH FROM ts - e) / 60 < 0.5 AND e <= ts", None),
    ("FLOOR(EXTRACT(EPOCH FROM ts - e) / 20) = 1", None),
)


def write_many(folder: Path, random: Random) -> None:
    """Rows of which many have one time; the last one closes all groups."""
    rows, far = write(folder, random), random.choice([40, 3_000, 50_000])
    for n, (ts, k, e, v) in enumerate(rows):
        second = round((ts - START).total_seconds()) + random.randint(-far, far)
        rows[n] = ts, k, e and START + timedelta(seconds=second // 20 * 20), v
    rows.append((START + timedelta(days=9), 0, None, 0))
    table = pq.read_table(folder / "m.parquet").schema.empty_table()
    columns = {n: [row[i] for row in rows] for i, n in enumerate(table.column_names)}
    pq.write_table(pa.table(columns, table.schema), folder / "m.parquet")


def compare_all(ours: str, duck: str, folder: Path) -> None:
    """Assert that all is told, in the end, that DuckDB answers."""
    catalog, base = make_catalog(folder, STREAM), duckdb.connect()
    base.execute(f"CREATE VIEW m AS FROM '{folder / 'm.parquet'}'")
    asked = base.execute(duck).fetchall()
    expected = sorted((tuple(map(plain, row)) for row in asked), key=str)
    for size in (1, 1000):
        made = replay(ours, catalog, folder / "out.parquet", size)
        assert sorted((row[1:] for row in made), key=str) == expected


@pytest.mark.parametrize(("ours", "duck"), ROUNDED)
@pytest.mark.parametrize("seed", range(3))
def test_limits_of_what_is_rounded(ours: str, duck: str | None, seed: int, tmp_path: Path) -> None:
    """Groups are final when no row can come that meets them."""
    random = Random(seed)
    write_many(tmp_path, random)
    cut = random.choice(CUTS).format(e="e")
    text = f"SELECT {cut} AS c0, COUNT(*) AS c1, SUM(v) AS c2 FROM m WHERE {{}} GROUP BY {cut}"
    compare_all(text.format(ours), text.format(duck or ours), tmp_path)


@pytest.mark.parametrize("cut", CUTS)
def test_times_that_are_distinct(cut: str, tmp_path: Path) -> None:
    """Each is told once, when it is over, in the words DISTINCT and GROUP BY."""
    random = Random(cut)
    write_many(tmp_path, random)
    shown, near = cut.format(e="e"), "e > ts - INTERVAL '40' SECOND AND e <= ts"
    for more in ("", ", k", ", v"):
        where = f"FROM m WHERE {near}{random.choice(['', ' AND k > 0'])}"
        text = f"SELECT DISTINCT {shown} AS c0{more} {where}"
        compare_all(text, text, tmp_path)
        grouped = f"SELECT {shown} AS c0{more} {where} GROUP BY {shown}{more}"
        compare_all(grouped, grouped, tmp_path)


LOW = "e > ts - INTERVAL '9' SECOND"


@pytest.mark.parametrize(
    "said",
    [
        LOW,
        "e <= ts",
        "(EXTRACT(EPOCH FROM ts - e) < 9 OR k = 1) AND e <= ts",
        "TIMESTAMPDIFF(MINUTE, e, ts) < 3",
        "DATE_TRUNC('hour', e) <= DATE_TRUNC('hour', ts)",
        "FLOOR(EXTRACT(EPOCH FROM ts - e)) <> 0",
        "e < TIMESTAMP '2026-02-01' + INTERVAL '9' SECOND",
    ],
)
def test_a_time_without_both_limits_has_no_bound(said: str, tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, STREAM)
    text = (
        f"SELECT CAST(e AS DATE) AS d, COUNT(*) AS n FROM m WHERE {said} GROUP BY CAST(e AS DATE)"
    )
    verdict = check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog)
    assert verdict.plans is None
