"""Today, yesterday, this month: conditions on the days of a time and of NOW() are the windows that
they say, and hold of the same times as in DuckDB."""

from datetime import datetime, timedelta
from random import Random

import duckdb
import pytest
import sqlglot

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, DateType, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql

NONE = DataSource("none", None)
COLUMNS = (Column("k", IntType()), Column("due", DateType()))
CATALOG = Catalog({"s": Stream("s", NONE, "ts", 1_000_000, None, COLUMNS)})
DAY = "date_trunc('day', NOW())"
SAME = [
    ("CAST(ts AS DATE) = CURRENT_DATE", f"ts >= {DAY} AND ts < {DAY} + INTERVAL '1' DAY"),
    ("CURRENT_DATE = date_trunc('day', ts)", f"ts >= {DAY} AND ts < {DAY} + INTERVAL '1' DAY"),
    ("DATE(ts) = CURRENT_DATE - 1", f"ts >= {DAY} - INTERVAL '1' DAY AND ts < {DAY}"),
    (
        "CAST(ts AS DATE) = CAST(NOW() - INTERVAL '1' DAY AS DATE)",
        f"ts >= {DAY} - INTERVAL '1' DAY AND ts < {DAY}",
    ),
    (
        "date_trunc('hour', ts) = date_trunc('hour', NOW()) - INTERVAL '1' HOUR",
        "ts >= date_trunc('hour', NOW()) - INTERVAL '1' HOUR AND ts < date_trunc('hour', NOW())",
    ),
    (
        "CAST(ts AS DATE) BETWEEN CURRENT_DATE - 7 AND CURRENT_DATE - INTERVAL '1' DAY",
        f"ts >= {DAY} - INTERVAL '7' DAY AND ts < {DAY}",
    ),
    ("CAST(ts AS DATE) > CURRENT_DATE - 3", f"ts >= {DAY} - INTERVAL '2' DAY"),
    (
        "CAST(ts AS DATE) <= CURRENT_DATE - 1 AND ts > NOW() - INTERVAL '9' DAY",
        f"ts < {DAY} AND ts > NOW() - INTERVAL '9' DAY",
    ),
    ("ts >= CURRENT_DATE", f"ts >= {DAY}"),
    ("DATE_SUB(CURRENT_DATE, 7) <= ts", f"{DAY} - INTERVAL '7' DAY <= ts"),
    ("ts > DATEADD(HOUR, -1, NOW())", "ts > NOW() - INTERVAL '1' HOUR"),
    ("ts > DATE_SUB(NOW(), INTERVAL 1 HOUR)", "ts > NOW() - INTERVAL '1' HOUR"),
    ("ts > GETDATE() - INTERVAL '1' HOUR", "ts > NOW() - INTERVAL '1' HOUR"),
    (
        "date_trunc('week', ts) >= date_trunc('week', NOW()) - INTERVAL '7' DAY",
        "ts >= date_trunc('week', NOW()) - INTERVAL '7' DAY",
    ),
    (
        "date_trunc('month', ts) = date_trunc('month', CURRENT_DATE)",
        "ts >= date_trunc('month', NOW()) AND ts <= NOW()",
    ),
    ("TIMESTAMPDIFF(MINUTE, ts, NOW()) <= 30", "ts > NOW() - INTERVAL '31' MINUTE"),
    ("48 > TIMESTAMPDIFF(HOUR, ts, NOW())", "ts > NOW() - INTERVAL '2' DAY"),
    ("date_trunc('day', ts) >= date_trunc('month', NOW())", "ts >= date_trunc('month', NOW())"),
]


def _read(condition: str) -> object:
    text = f"SELECT k FROM s WHERE {condition}"
    return parse_sql(text, CATALOG, name="q", file="q.sql")


@pytest.mark.parametrize(("condition", "window"), SAME)
def test_the_window_is_what_it_says(condition: str, window: str) -> None:
    assert _read(condition) == _read(window)


@pytest.mark.parametrize(
    ("condition", "window"), [c for c in SAME if "INTERVAL 1 HOUR" not in c[0]]
)
def test_both_hold_of_the_same_times(condition: str, window: str) -> None:
    random, start = Random(len(condition)), datetime(2026, 3, 1)
    rows = []
    for _ in range(200):
        now = start + timedelta(seconds=random.randrange(40 * 86_400))
        before = random.choice([0, 3600, 86_400, 604_800, 4_000_000]) * random.random()
        rows.append((now, (now - timedelta(seconds=before)).replace(microsecond=0)))
    values = ", ".join(f"(TIMESTAMP '{now}', TIMESTAMP '{ts}')" for now, ts in rows)
    made = (f"({_spell(one)})" for one in (condition, window))
    text = f"SELECT {', '.join(made)} FROM (VALUES {values}) AS r (today, ts)"
    told = duckdb.connect().execute(text).fetchall()
    assert [one for one, _ in told] == [other for _, other in told]
    assert len({one for one, _ in told}) == 2


def _spell(condition: str) -> str:
    """A condition in DuckDB's words, of a column `today` instead of NOW()."""
    text = sqlglot.transpile(condition, read="spark", write="duckdb")[0]
    for name in ("GETDATE()", "NOW()", "CURRENT_TIMESTAMP"):
        text = text.replace(name, "today")
    return text.replace("CURRENT_DATE", "CAST(today AS DATE)")


@pytest.mark.parametrize(
    "condition",
    [
        "date_trunc('month', ts) = date_trunc('month', NOW()) - INTERVAL '31' DAY",
        "date_trunc('week', ts) = date_trunc('month', NOW())",
        "date_trunc('day', ts) = NOW()",
        "ts > NOW() - 7",
        "date_trunc('month', due) = date_trunc('month', NOW())",
    ],
)
def test_what_is_not_aligned_stays(condition: str) -> None:
    with pytest.raises(QueryError):
        _read(condition)
