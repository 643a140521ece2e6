"""Windows of months, as SQL takes months away from NOW(): what holds at every time is what DuckDB
finds with that time as NOW(); and the moments at which rows come and go, by themselves."""

from calendar import monthrange
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

import ontoweir
from ontoweir.mappings.model.time_bucket import CalendarBuckets, MonthsLater, TimeBucket
from ontoweir.rewriter.buckets.print_bucket import print_bucket
from ontoweir.runtime.ingest.find_buckets import find_buckets

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR_US = 3_600_000_000
GRIDS = tuple(CalendarBuckets(unit) for unit in ("day", "week", "month", "quarter", "year"))
BEGIN = date(1999, 12, 1)
TIMES = st.builds(
    lambda month, day, hour: _place(month, day) + hour * HOUR_US,
    st.integers(0, 150),
    st.integers(-3, 3) | st.integers(0, 30),
    st.sampled_from([0, 1, 23]),
)
"""Times of many months, near their ends more often."""


def _place(month: int, day: int) -> int:
    year, number = divmod(BEGIN.month - 1 + month, 12)
    first = date(BEGIN.year + year, number + 1, 1) + timedelta(days=day)
    return (first - EPOCH.date()).days * 24 * HOUR_US


def take_months(time_us: int, months: int) -> int:
    """So many months before, as DuckDB and Spark have it: the last day there, where the day is
    missing."""
    moment = EPOCH + timedelta(microseconds=time_us)
    year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    before = moment.replace(year=year, month=month + 1, day=day)
    return (before - EPOCH) // timedelta(microseconds=1)


@given(TIMES, st.integers(1, 25), st.sampled_from(GRIDS))
def test_it_is_the_first_moment_that_is_so_many_months_later(
    time: int, months: int, grid: CalendarBuckets
) -> None:
    made = MonthsLater(months, grid)
    found = made.start(time)
    assert take_months(found, months) >= time
    before = grid.start(found - 1)
    assert take_months(before, months) < time
    assert grid.start(found) == found
    assert made.shortest_us <= found - time <= made.longest_us


@given(st.lists(TIMES, min_size=1), st.integers(1, 25), st.sampled_from(GRIDS))
def test_columns_of_times_have_the_same(
    times: list[int], months: int, grid: CalendarBuckets
) -> None:
    bucket = TimeBucket(MonthsLater(months, grid), behind_us=-1)
    found = find_buckets(bucket, np.array(sorted(times), dtype=np.int64))
    assert found.cast(pa.int64()).to_pylist() == [bucket.of(t) for t in sorted(times)]


@pytest.mark.parametrize("grid", GRIDS)
def test_it_is_printed_for_duckdb(grid: CalendarBuckets) -> None:
    random, connection = Random(1), duckdb.connect()
    for months in (1, 3, 12):
        bucket = TimeBucket(MonthsLater(months, grid))
        printed = print_bucket(bucket, sqlglot.exp.column("ts"), "duckdb").sql("duckdb")
        for _ in range(60):
            time = random.randrange(20 * 366 * 24) * HOUR_US
            made = f"(SELECT make_timestamp({time}::BIGINT) AS ts)"
            row = connection.execute(f"SELECT epoch_us({printed}) FROM {made}").fetchone()
            assert row == (bucket.of(time),)


WINDOWS = (
    "ts > CURRENT_DATE - INTERVAL '1' MONTH",
    "ts >= CURRENT_DATE - INTERVAL '1' MONTH",
    "CAST(ts AS DATE) >= CURRENT_DATE - INTERVAL '1' MONTH",
    "ts > CURRENT_DATE - INTERVAL '1' YEAR AND ts <= CURRENT_DATE - INTERVAL '3' MONTH",
    "ts > NOW() - INTERVAL '30' DAY AND ts < CURRENT_DATE - INTERVAL '1' MONTH",
    "date_trunc('month', ts) = date_trunc('month', NOW()) - INTERVAL '1' MONTH",
    "date_trunc('month', ts) = date_trunc('month', CURRENT_DATE - INTERVAL '2' MONTH)",
    "date_trunc('quarter', ts) = date_trunc('quarter', NOW()) - INTERVAL '3' MONTH",
    "date_trunc('year', ts) >= date_trunc('year', NOW() - INTERVAL '1' YEAR)",
    "date_trunc('month', ts) > date_trunc('month', NOW()) - INTERVAL '3' MONTH",
    "ts >= date_trunc('quarter', NOW()) - INTERVAL '1' MONTH",
    "ts >= date_trunc('week', NOW()) - INTERVAL '1' MONTH AND ts < date_trunc('week', NOW())",
    "date_trunc('month', ts) <= date_trunc('month', NOW()) - INTERVAL '2' MONTH",
    "ts >= ADD_MONTHS(CURRENT_DATE, -3)",
    "YEAR(ts) = YEAR(NOW()) AND MONTH(ts) = MONTH(NOW()) AND k < 2",
    "EXTRACT(YEAR FROM ts) >= EXTRACT(YEAR FROM CURRENT_DATE) - 1",
    (
        "(MONTH(ts) = MONTH(CURRENT_DATE - INTERVAL '1' MONTH)) AND "
        "YEAR(CURRENT_DATE - INTERVAL '1' MONTH) = YEAR(ts)"
    ),
    "YEAR(ts) = YEAR(CURRENT_DATE) AND QUARTER(ts) = QUARTER(CURRENT_DATE)",
    "CAST(ts AS DATE) = CURRENT_DATE AND EXTRACT(HOUR FROM ts) = EXTRACT(HOUR FROM NOW())",
    "ts >= CURRENT_DATE - INTERVAL '3' MONTH AND CAST(ts AS DATE) < CURRENT_DATE",
)
PROJECT = """[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "hour" }

[streams.s.columns]
k = { type = "int", min = 0, max = 2 }

[project]
queries = []
"""


def _write(folder: Path, seed: int) -> list[tuple[datetime, int]]:
    random, rows = Random(seed), []
    for day in range(420):
        moment = datetime(2023, 11, 1) + timedelta(days=day)
        if random.random() < 0.3 or moment.day in (1, 28, 29, 30, 31):
            hours = {random.choice([0, 1, 23, random.randrange(24)]) for _ in range(2)}
            rows += [(moment + timedelta(hours=h), random.randrange(3)) for h in sorted(hours)]
    made = pa.table(
        {
            "ts": pa.array([t for t, _ in rows], pa.timestamp("us", "UTC")),
            "k": pa.array([k for _, k in rows], pa.int64()),
        }
    )
    pq.write_table(made, folder / "s.parquet")
    (folder / "ontoweir.toml").write_text(PROJECT)
    return rows


def _ask(
    connection: duckdb.DuckDBPyConnection, text: str, now: datetime
) -> Counter[tuple[int, ...]]:
    said = sqlglot.transpile(text, read="spark", write="duckdb")[0]
    moment = f"TIMESTAMP '{now}'"
    said = said.replace("CURRENT_TIMESTAMP", moment).replace("NOW()", moment)
    said = said.replace("CURRENT_DATE", f"CAST({moment} AS DATE)")
    past = f"WITH s AS (SELECT * FROM all_rows WHERE ts <= {moment})"
    return Counter(connection.execute(f"{past} {said}").fetchall())


@pytest.mark.parametrize("window", WINDOWS)
def test_a_window_of_months_is_duckdbs(tmp_path: Path, window: str) -> None:
    rows = _write(tmp_path, len(window))
    text = f"SELECT k, COUNT(*) AS n FROM s WHERE {window} GROUP BY k"
    project = ontoweir.open_project(tmp_path)
    told = project.replay(text, emit="changes").to_arrow().to_pylist()
    last, random = rows[-1][0], Random(5)
    connection = duckdb.connect()
    read = f"read_parquet('{tmp_path / 's.parquet'}')"
    connection.execute(
        f"SET TimeZone = 'UTC'; CREATE TABLE all_rows AS SELECT * REPLACE "
        f"(CAST(ts AS TIMESTAMP) AS ts) FROM {read}"
    )
    moments = {row["at"].replace(tzinfo=None) for row in told}
    moments |= {at - timedelta(hours=1) for at in moments} | {t for t, _ in random.sample(rows, 20)}
    asked, seen = sorted(m for m in moments if m <= last), 0
    for now in random.sample(asked, min(len(asked), 40)):
        holding: Counter[tuple[int, ...]] = Counter()
        for row in told:
            if row["at"].replace(tzinfo=None) <= now:
                holding[row["k"], row["n"]] += 1 if row["op"] == "+" else -1
        assert +holding == _ask(connection, text, now), (window, now)
        seen += bool(+holding)
    assert seen > 8 or "30' DAY" in window


@pytest.mark.parametrize(
    "window",
    [
        "ts + INTERVAL '1' MONTH > NOW()",
        "MONTH(ts) = MONTH(NOW())",
        "YEAR(ts) = YEAR(NOW()) OR MONTH(ts) = MONTH(NOW())",
        "(YEAR(ts) = YEAR(NOW()) AND k = 1) OR (MONTH(ts) = MONTH(NOW()) AND k = 2)",
        "YEAR(ts) = YEAR(NOW()) AND NOT (MONTH(ts) = MONTH(NOW()))",
        "ts > NOW() - INTERVAL '1' MONTH",
        "ts > date_trunc('hour', NOW()) - INTERVAL '1' MONTH",
        "ts > date_trunc('day', NOW(), 'Europe/Berlin') - INTERVAL '1' MONTH",
        "date_trunc('hour', ts) > date_trunc('hour', NOW() - INTERVAL '1' MONTH)",
        "NOW() - ts < INTERVAL '1' MONTH",
        "ts > NOW() - INTERVAL '1' MONTH - INTERVAL '1' DAY",
        "ts > NOW() - INTERVAL '1' MONTH - INTERVAL '1' MONTH",
        "ts > NOW() + INTERVAL '1' MONTH",
        "date_trunc('quarter', ts) = date_trunc('quarter', NOW() - INTERVAL '1' MONTH)",
        "date_trunc('week', ts) = date_trunc('week', NOW() - INTERVAL '1' MONTH)",
        "CAST(ts AS DATE) = CURRENT_DATE - INTERVAL '1' MONTH",
    ],
)
def test_what_is_no_such_window_is_refused(tmp_path: Path, window: str) -> None:
    _write(tmp_path, 1)
    with pytest.raises(ontoweir.OntoweirError):
        ontoweir.open_project(tmp_path).check(f"SELECT k FROM s WHERE {window}")
