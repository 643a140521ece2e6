"""ASOF JOIN, LAG and moving aggregates: what they are read as, and what is refused by name."""

from dataclasses import replace

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    FloatType,
    IntType,
    QueryView,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql

NOTHING = DataSource("parquet", "none")
READING = Stream(
    "reading",
    NOTHING,
    "ts",
    60_000_000,
    3,
    (
        Column("sensor", StringType(), enum=("a", "b", "c")),
        Column("value", FloatType()),
        Column("hum", IntType(), minimum=0, maximum=9, nullable=True),
    ),
    (("sensor", "ts"),),
)
EVENT = replace(READING, name="event", keys=())
SENSOR = Relation("sensor", NOTHING, (Column("id", StringType()), Column("city", StringType())))
VIEW = "SELECT sensor, ts, LAG(value) OVER (PARTITION BY sensor ORDER BY ts) AS was FROM reading"
CATALOG = Catalog(
    {"reading": READING, "event": EVENT},
    {"sensor": SENSOR},
    views={"before": QueryView("before", VIEW, Source("ontoweir.toml", 1))},
)
LAG = "LAG(value) OVER (PARTITION BY sensor ORDER BY ts)"
HOUR = "RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"
MOVING = f"AVG(value) OVER (PARTITION BY sensor ORDER BY ts {HOUR})"
AROUND = MOVING.replace("CURRENT ROW", "INTERVAL '1' HOUR FOLLOWING")
BEFORE = MOVING.replace("CURRENT ROW", "INTERVAL '1' MINUTE PRECEDING")
INSIDE = "sensor IN (SELECT id FROM sensor)"
ASOF = "SELECT a.ts, b.value FROM reading a ASOF JOIN reading b ON a.sensor = b.sensor AND"


def read(text: str) -> SpjUnion:
    return parse_sql(text, CATALOG, name="q", file="q.sql")


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT sensor, ts, {LAG} AS was FROM reading",
        f"SELECT * FROM (SELECT sensor, ts, {LAG} AS was FROM reading) AS x WHERE was > 3",
        "SELECT sensor, was FROM before WHERE was > 3",
        f"{ASOF} a.ts >= b.ts",
        f"{ASOF} b.ts < a.ts WHERE b.value > 3",
        "SELECT a.ts FROM reading a ASOF LEFT JOIN reading b USING (sensor, ts)",
    ],
)
def test_one_row_is_kept_for_each_key(text: str) -> None:
    verdict = check_query(read(text), CATALOG)
    assert verdict.bound is not None
    assert verdict.bound.rows == 3


def test_a_moving_aggregate_keeps_its_window() -> None:
    verdict = check_query(read(f"SELECT sensor, ts, {MOVING} AS mean FROM reading"), CATALOG)
    assert verdict.bound is not None
    assert verdict.bound.rows == 3 * 60


@pytest.mark.parametrize(
    "text",
    [
        (
            f"SELECT r.ts, AVG(o.value) OVER (PARTITION BY r.sensor ORDER BY r.ts {HOUR}) AS mean "
            "FROM reading r JOIN reading o ON o.sensor = r.sensor AND o.ts = r.ts"
        ),
        f"SELECT sensor, ts, {MOVING.replace('AVG(', 'COUNT(DISTINCT ')} AS mean FROM reading",
    ],
)
def test_a_moving_aggregate_of_matches_or_of_different_values_keeps_its_window(text: str) -> None:
    verdict = check_query(read(text), CATALOG)
    assert verdict.bound is not None
    assert verdict.bound.rows is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"SELECT ts, {MOVING} AS w FROM reading LEFT JOIN sensor ON id = sensor",
            "other than inner joins",
        ),
        (
            f"SELECT ts, {MOVING} AS w FROM reading JOIN sensor ON id = sensor",
            'declare keys = [["…"]] in [relations.sensor]',
        ),
        (f"SELECT ts, {LAG} AS w FROM event", 'declare keys = [["sensor", "ts"]]'),
        (f"SELECT ts, {LAG} AS w FROM reading JOIN sensor ON id = sensor", "several tables"),
        (f"SELECT {LAG} AS w FROM reading HAVING COUNT(*) > 3", "groups or DISTINCT"),
        (
            f"WITH reading AS (SELECT * FROM event) SELECT {LAG} AS w FROM reading",
            "where event may",
        ),
        (f"WITH reading AS (SELECT * FROM sensor) SELECT {LAG} AS w FROM reading", "unknown"),
        (f"SELECT {LAG.replace('(value)', '(value, hum)')} AS w FROM reading", "no number of rows"),
        (
            f"SELECT {LAG.replace('ORDER BY ts', 'ORDER BY value')} AS w FROM reading",
            "ORDER BY value",
        ),
        (f"SELECT {LAG.replace('BY ts', 'BY ts DESC')} AS w FROM reading", "the order of LAG"),
        (f"{ASOF} a.ts <= b.ts", "the row that comes next"),
        (f"{ASOF} a.ts >= b.ts AND a.ts > b.ts", "2 comparisons"),
        (f"{ASOF} a.value > b.value", "ASOF JOIN by a.value > b.value"),
        (f"{ASOF} a.sensor = b.sensor AND a.ts >= b.ts", "by sensor twice"),
        (f"{ASOF.replace('ASOF JOIN', 'ASOF RIGHT JOIN')} a.ts >= b.ts", "ASOF RIGHT JOIN"),
        ("SELECT a.ts FROM reading a ASOF JOIN sensor b ON a.sensor = b.id", "which is no stream"),
        (f"SELECT {MOVING.replace('RANGE', 'ROWS')} AS m FROM reading", "write a whole number"),
        ("SELECT SUM(value) OVER () AS m FROM reading", "all rows until each"),
        (f"SELECT {AROUND} AS m FROM event", "may have several equal rows"),
        (f"SELECT {MOVING.replace('BY sensor', 'BY hum')} AS m FROM reading", "which may be NULL"),
        (
            f"SELECT {AROUND} AS m, {AROUND.replace('HOUR', 'MINUTE')} AS n FROM reading",
            "several windows in one SELECT",
        ),
        (f"SELECT {AROUND} AS m, {LAG} AS w FROM reading", "beside it"),
        (f"SELECT *, {AROUND} AS m FROM reading", "* beside a moving aggregate"),
        (
            (
                "SELECT COUNT(*) OVER (ORDER BY ts, sensor RANGE BETWEEN UNBOUNDED PRECEDING AND "
                "CURRENT ROW EXCLUDE GROUP) AS n FROM reading"
            ),
            "of a time,",
        ),
        (
            f"SELECT {LAG} AS w FROM reading AS reading(sensor, hum, value, ts)",
            "an alias with names of columns",
        ),
        (
            f"SELECT {BEFORE} AS m FROM reading JOIN sensor ON sensor.id = reading.sensor",
            "a window without the row itself",
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith("q.sql:1: ")


@pytest.mark.parametrize("call", [LAG, MOVING, BEFORE])
def test_rows_are_chosen_first(call: str) -> None:
    """By a subquery in WHERE as by one in FROM."""
    rows = f"(SELECT * FROM reading WHERE {INSIDE}) AS reading"
    assert read(f"SELECT {call} AS m FROM reading WHERE {INSIDE}") == read(
        f"SELECT {call} AS m FROM {rows}"
    )


def test_using_names_no_column_of_a_subquery() -> None:
    """`id` and `sensor` in the subquery are its own."""
    text = (
        "SELECT a.ts FROM reading a ASOF JOIN reading b USING (sensor, ts) "
        "WHERE a.sensor IN (SELECT {} FROM t s)"
    )
    catalog = replace(CATALOG, relations={"t": replace(SENSOR, name="t", columns=READING.columns)})
    one, other = (
        parse_sql(text.format(name), catalog, name="q", file="q.sql")
        for name in ("sensor", "s.sensor")
    )
    assert one == other
