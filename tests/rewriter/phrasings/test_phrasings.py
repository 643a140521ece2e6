"""Phrasings of SQL that are read as others: the same query comes of both."""

import re
from dataclasses import replace

import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    FloatType,
    IntType,
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
    10,
    (
        Column("sensor", StringType(), enum=("a", "b")),
        Column("value", FloatType()),
        Column("level", IntType(), minimum=0, maximum=9),
        Column("hum", IntType(), minimum=0, maximum=9, nullable=True),
    ),
    (("sensor", "ts"),),
)
SENSOR = Relation("sensor", NOTHING, (Column("id", StringType()), Column("city", StringType())))
OTHER = replace(READING, name="other")
CATALOG = Catalog({"reading": READING, "other": OTHER}, {"sensor": SENSOR})


ROW = "SELECT a.sensor, a.value FROM reading a WHERE"
OTHERS, SAME = "SELECT 1 FROM reading b WHERE", "b.sensor = a.sensor"


def read(text: str) -> SpjUnion:
    return parse_sql(text, CATALOG, name="q", file="q.sql")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            "SELECT sensor, COUNT(*) AS n FROM reading GROUP BY ALL",
            "SELECT sensor, COUNT(*) AS n FROM reading GROUP BY sensor",
        ),
        (
            "SELECT COUNT(*) AS n FROM reading GROUP BY ALL",
            "SELECT COUNT(*) AS n FROM reading",
        ),
        (
            "SELECT sensor, COUNT_IF(level > 3) AS n FROM reading GROUP BY sensor",
            "SELECT sensor, COUNT(CASE WHEN level>3 THEN 1 END) AS n FROM reading GROUP BY sensor",
        ),
        (
            "SELECT COUNT_IF(level > 3) FILTER (WHERE sensor = 'a') AS n FROM reading",
            (
                "SELECT COUNT(CASE WHEN CASE WHEN sensor = 'a' THEN level > 3 END THEN 1 END) AS n "
                "FROM reading"
            ),
        ),
        (
            "SELECT sensor, BOOL_OR(level > 3) AS o FROM reading GROUP BY sensor",
            (
                "SELECT sensor, (MAX(CASE WHEN level > 3 THEN 1 WHEN NOT (level > 3) THEN 0 END) "
                "= 1) AS o FROM reading GROUP BY sensor"
            ),
        ),
        (
            "SELECT EVERY(level > 3) AS o FROM reading",
            "SELECT BOOL_AND(level > 3) AS o FROM reading",
        ),
        (
            "SELECT sensor, ANY_VALUE(level) AS o FROM reading GROUP BY sensor",
            "SELECT sensor, MIN(level) AS o FROM reading GROUP BY sensor",
        ),
        (
            "SELECT sensor, ANY_VALUE(sensor) AS o, COUNT(*) AS n FROM reading GROUP BY sensor",
            "SELECT sensor, sensor AS o, COUNT(*) AS n FROM reading GROUP BY sensor",
        ),
        (
            "SELECT DATE_PART('hour', ts) AS h, EPOCH(ts) AS e FROM reading",
            "SELECT EXTRACT(HOUR FROM ts) AS h, EXTRACT(EPOCH FROM ts) AS e FROM reading",
        ),
        (
            "SELECT STRFTIME('%Y', ts) AS y FROM reading",
            "SELECT STRFTIME(ts, '%Y') AS y FROM reading",
        ),
        ("SELECT ts, value FROM reading ORDER BY ts", "SELECT ts, value FROM reading"),
        (
            "SELECT r.ts AS t, city FROM reading r JOIN sensor ON id = sensor.id ORDER BY t",
            "SELECT r.ts AS t, city FROM reading r JOIN sensor ON id = sensor.id",
        ),
        (
            "SELECT date_trunc('hour', ts) AS h, COUNT(*) AS n FROM reading GROUP BY h ORDER BY 1",
            "SELECT date_trunc('hour', ts) AS h, COUNT(*) AS n FROM reading GROUP BY h",
        ),
        (
            "SELECT DISTINCT ON (sensor) sensor, value FROM reading ORDER BY sensor, ts DESC",
            (
                "SELECT sensor, value FROM reading "
                "QUALIFY ROW_NUMBER() OVER (PARTITION BY sensor ORDER BY ts DESC) = 1"
            ),
        ),
        (
            f"{ROW} a.level>2 AND a.ts = (SELECT MAX(ts) FROM reading b WHERE {SAME} AND level>2)",
            f"{ROW} a.level > 2 AND NOT EXISTS ({OTHERS} {SAME} AND b.level > 2 AND b.ts > a.ts)",
        ),
        (
            f"{ROW} (a.sensor, a.ts) IN (SELECT sensor, MAX(ts) FROM reading GROUP BY sensor)",
            (
                f"{ROW} NOT EXISTS (SELECT 1 FROM reading `reading beside` WHERE "
                "`reading beside`.sensor = a.sensor AND `reading beside`.ts > a.ts)"
            ),
        ),
        (
            f"{ROW} (SELECT MIN(b.ts) FROM reading b WHERE {SAME}) = a.ts",
            f"{ROW} NOT EXISTS ({OTHERS} {SAME} AND b.ts < a.ts)",
        ),
        (
            "SELECT ts::date AS d, COUNT(*) AS n FROM reading GROUP BY 1 ORDER BY d",
            "SELECT DATE(ts) AS d, COUNT(*) AS n FROM reading GROUP BY DATE(ts)",
        ),
    ],
)
def test_it_is_read_as(text: str, same: str) -> None:
    one, other = read(text), read(same)
    assert replace(one, aggregation=None) == replace(other, aggregation=None)
    assert repr(one.aggregation) == repr(other.aggregation)


@pytest.mark.parametrize(
    ("text", "bucket"),
    [
        ("SELECT CAST(ts AS DATE) AS d, COUNT(*) AS n FROM reading GROUP BY d", "day"),
        ("SELECT YEAR(ts) AS y, COUNT(*) AS n FROM reading GROUP BY y", "year"),
        ("SELECT YEAR(ts) AS y, MONTH(ts) AS m, COUNT(*) AS n FROM reading GROUP BY y, m", "month"),
        (
            "SELECT DATE(ts) AS d, HOUR(ts) AS h, COUNT(*) AS n FROM reading GROUP BY d, h",
            "hour",
        ),
        ("SELECT STRFTIME(ts, '%Y-%m') AS m, COUNT(*) AS n FROM reading GROUP BY m", "month"),
    ],
)
def test_parts_that_make_a_bucket(text: str, bucket: str) -> None:
    ((_, column),) = read(text).buckets
    assert bucket in column.name or (bucket == "hour" and "1 hour" in column.name)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT HOUR(ts) AS h, COUNT(*) AS n FROM reading GROUP BY h",
        "SELECT MONTH(ts) AS m, DAY(ts) AS d, COUNT(*) AS n FROM reading GROUP BY m, d",
        "SELECT STRFTIME(ts, '%m-%d') AS d, COUNT(*) AS n FROM reading GROUP BY d",
    ],
)
def test_parts_that_make_none(text: str) -> None:
    assert read(text).buckets == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT value FROM reading ORDER BY value", "ORDER BY is outside"),
        ("SELECT ts, value FROM reading ORDER BY ts DESC", "ORDER BY is outside"),
        ("SELECT a.ts FROM reading a, reading b WHERE a.ts = b.ts ORDER BY a.ts", "ORDER BY"),
        ("SELECT ts, value FROM reading ORDER BY ts, value", "ORDER BY is outside"),
        ("SELECT sensor, COUNT(*) AS n FROM reading GROUP BY sensor ORDER BY sensor", "ORDER BY"),
        ("SELECT DISTINCT ON (sensor) sensor FROM reading", "DISTINCT ON"),
        ("SELECT hum FROM reading EXCEPT SELECT hum FROM reading", "hum, which may be NULL"),
        ("SELECT sensor FROM reading EXCEPT ALL SELECT id FROM sensor", "EXCEPT ALL"),
        ("SELECT sensor, level FROM reading EXCEPT SELECT id FROM sensor", "2 and 1 columns"),
        ("SELECT * FROM reading EXCEPT SELECT * FROM reading", "write columns by name"),
        (
            "SELECT 1 FROM reading WHERE EXISTS (SELECT 1 FROM reading) EXCEPT SELECT 1 FROM other",
            "reading is two tables",
        ),
        ("SELECT ts FROM reading WHERE value > (SELECT MAX(value) FROM reading)", "as its view"),
        (
            (
                "SELECT a.ts FROM reading a, other c WHERE c.ts = (SELECT MAX(b.ts) FROM reading b "
                "WHERE b.sensor = c.sensor) AND c.ts = a.ts"
            ),
            "as a value",
        ),
        ("SELECT ts, (SELECT MAX(value) FROM reading) AS m FROM reading", "as a value"),
        (
            (
                "SELECT ts FROM reading WHERE (sensor, ts) IN (SELECT sensor, MAX(ts) FROM reading "
                "WHERE level > 2 GROUP BY sensor)"
            ),
            "as a value",
        ),
        (
            (
                "SELECT a.ts FROM reading a WHERE a.ts = (SELECT MAX(b.ts) FROM reading b WHERE "
                "b.sensor = a.sensor AND b.level > 2)"
            ),
            "as a value",
        ),
    ],
)
def test_what_is_no_such_phrasing(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("number", "unit"),
    [
        ("YEAR(ts) * 10000 + MONTH(ts) * 100 + DAY(ts)", "day"),
        ("31 * (MONTH(ts) + YEAR(ts) * 12) + DAY(ts) - 1", "day"),
        ("YEAR(ts) + 10000 * MONTH(ts)", "month"),
        ("YEAR(ts) * 4 + QUARTER(ts)", "quarter"),
        ("YEAR(ts) * 10000 + MONTH(ts) * 10 + DAY(ts)", None),  # 31 January is 21 February
        ("MONTH(ts) * 100 + YEAR(ts)", None),
        ("YEAR(ts) * 100 - MONTH(ts)", None),
        ("MONTH(ts) * 100 + DAY(ts)", None),
        ("YEAR(ts) * 100 + level", None),
    ],
)
def test_a_number_made_of_parts_of_a_time_is_its_bucket(number: str, unit: str | None) -> None:
    """If each is made of one choice of parts only."""
    text = f"SELECT {number} AS d, MAX(value) AS m FROM reading GROUP BY {{}}"
    union = read(text.format(number))
    of_bucket = f"date_trunc('{unit}', ts)"
    computed = re.sub(r"\bts\b", f"ANY_VALUE({of_bucket})", number)
    same = f"SELECT {computed} AS d, MAX(value) AS m FROM reading GROUP BY {of_bucket}"
    if unit:
        assert union == read(same)
    else:
        assert union.aggregation is not None
        assert union.aggregation.group == ("d",)
