"""Buckets of time in SQL: what is read, what is refused, and where."""

import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Stream,
    TimestampType,
)
from ontoweir.mappings.model.sliding_buckets import SlidingBuckets
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets, TimeBucket
from ontoweir.rewriter.model.aggregation import Panes
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql

HOUR = 3_600_000_000
NONE = DataSource("parquet", "none")
CATALOG = Catalog(
    {"s": Stream("s", NONE, "ts", 1_000_000, 5, (Column("k", IntType()), Column("v", IntType())))}
)


DEVICE = Column("t", TimestampType())
TIMES = Catalog(
    {"s": Stream("s", NONE, "ts", 1_000_000, 5, (Column("k", IntType()), DEVICE))}
)  # a device's clock


def read(bucket: str) -> SpjUnion:
    sql = f"SELECT k, {bucket} AS b, COUNT(*) AS n FROM s GROUP BY k, {bucket}"
    return parse_sql(sql, CATALOG, name="q", file="q.sql")


@pytest.mark.parametrize(
    ("text", "bucket"),
    [
        ("date_trunc('hour', ts)", FixedBuckets(HOUR)),
        ("DATE_TRUNC('MINUTE', s.ts)", FixedBuckets(HOUR // 60)),
        ("FLOOR(ts TO SECOND)", FixedBuckets(1_000_000)),
        ("FLOOR(ts TO DAY)", CalendarBuckets("day")),
        ("date_trunc('week', ts)", CalendarBuckets("week")),
        ("date_trunc('day', ts, 'Europe/Berlin')", CalendarBuckets("day", "Europe/Berlin")),
        ("TUMBLE(ts, INTERVAL '5' MINUTE)", FixedBuckets(HOUR // 12)),
        ("TUMBLE(ts, INTERVAL '1' HOUR, INTERVAL '10' MINUTE)", FixedBuckets(HOUR, HOUR // 6)),
        ("TUMBLE(ts, INTERVAL '1' MONTH)", CalendarBuckets("month")),
        ("time_bucket('90 seconds', ts)", FixedBuckets(90_000_000)),
        ("time_bucket(INTERVAL '7 days', ts)", FixedBuckets(7 * 24 * HOUR, 4 * 24 * HOUR)),
        (
            "date_bin(INTERVAL '1 hour', ts, TIMESTAMP '2001-01-01 00:20:00')",
            FixedBuckets(HOUR, HOUR // 3),
        ),
    ],
)
def test_each_writing(text: str, bucket: FixedBuckets | CalendarBuckets) -> None:
    ((stream, column),) = read(text).buckets
    assert (stream, column.bucket) == ("s", TimeBucket(bucket))


def test_the_end_may_be_selected_where_the_start_is_grouped_by() -> None:
    hour = "(ts, INTERVAL '1' HOUR)"
    sql = f"SELECT TUMBLE_START{hour} AS b, TUMBLE_END{hour} AS e, COUNT(*) AS n FROM s"
    sql += f" GROUP BY TUMBLE{hour}"
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    assert union.aggregation is not None
    assert union.aggregation.group == ("b", "e")


MINUTES, SLIDING = "INTERVAL '5' MINUTE", "INTERVAL '5' MINUTE, INTERVAL '1' HOUR"


@pytest.mark.parametrize(
    ("start", "end", "source", "buckets"),
    [
        (
            f"HOP_START(ts, {SLIDING})",
            f"HOP_END(ts, {SLIDING})",
            "s",
            SlidingBuckets(HOUR, HOUR // 12),
        ),
        (
            f"HOP(ts, {SLIDING}, INTERVAL '6' MINUTE)",
            f"HOP_END(ts, {SLIDING}, INTERVAL '6' MINUTE)",
            "s",
            SlidingBuckets(HOUR, HOUR // 12, HOUR // 60),
        ),
        (
            "window_start",
            "window_end",
            f"TABLE(HOP(TABLE s, DESCRIPTOR(ts), {SLIDING}))",
            SlidingBuckets(HOUR, HOUR // 12),
        ),
        (
            "w.window_start",
            "w.window_end",
            (
                f"TABLE(CUMULATE(DATA => TABLE s, TIMECOL => DESCRIPTOR(ts), STEP => {MINUTES}, "
                "SIZE => INTERVAL '1' HOUR)) AS w"
            ),
            SlidingBuckets(HOUR, HOUR // 12, grows=True),
        ),
    ],
)
def test_buckets_that_overlap(start: str, end: str, source: str, buckets: SlidingBuckets) -> None:
    sql = f"SELECT {start} AS b, {end} AS e, k, COUNT(*) AS n FROM {source} GROUP BY b, {end}, k"
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    assert union.aggregation is not None
    assert union.aggregation.panes == Panes("b", buckets, "e")
    assert union.aggregation.group == ("b", "k")
    assert union.aggregation.columns == ("b", "e", "k", "n")


def test_a_table_of_windows_that_do_not_overlap() -> None:
    sql = f"""SELECT window_start, COUNT(*) AS n
        FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), {MINUTES})) GROUP BY window_start, window_end"""
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    assert union.aggregation is not None
    assert union.aggregation.group == ("window_start",)
    ((_, column), *_) = union.buckets
    assert column.bucket == TimeBucket(FixedBuckets(HOUR // 12))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("TABLE(HOP(TABLE s, DESCRIPTOR(ts)))", "in FROM"),
        ("TABLE(HOP(TABLE s, 5, INTERVAL '1' HOUR, INTERVAL '1' DAY))", "in FROM"),
        ("TABLE(HOP(TABLE s, DESCRIPTOR(v), INTERVAL '1' HOUR, INTERVAL '1' DAY))", "v is not a"),
        ("TABLE(CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '7' HOUR, INTERVAL '1' DAY))", "no INT"),
        ("TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MONTH, INTERVAL '1' YEAR))", "no INT"),
        ("TABLE(SESSION(TABLE s, DESCRIPTOR(ts)))", "in FROM"),
    ],
)
def test_tables_of_windows_that_are_refused(text: str, what: str) -> None:
    sql = f"SELECT window_start, window_end, COUNT(*) AS n FROM {text} GROUP BY 1, window_end"
    with pytest.raises(QueryError, match=what):
        parse_sql(sql, CATALOG, name="q", file="q.sql")


def test_a_bucket_has_no_group_without_a_value() -> None:
    assert len(read("date_trunc('hour', ts)").disjuncts) == 2  # k may be NULL


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("date_trunc('hour', v)", "v is not a stream's timestamp"),
        ("date_trunc('fortnight', ts)", "the unit 'fortnight'"),
        ("date_trunc('day', ts, 'Mars/Olympus')", "the time zone 'Mars/Olympus'"),
        ("date_trunc('hour', ts, 'Asia/Kolkata')", "hours of a time zone"),
        ("TUMBLE(ts, INTERVAL '0' SECOND)", "the width '0 SECOND'"),
        ("TUMBLE(ts, INTERVAL '2' MONTH)", "the width '2 MONTH'"),
        ("TUMBLE(ts, INTERVAL '1' HOUR, 5)", "an offset that is no INTERVAL"),
        ("time_bucket('soon', ts)", "the width 'soon'"),
        ("date_trunc('hour')", "1 arguments"),
    ],
)
def test_what_is_refused(text: str, what: str) -> None:
    with pytest.raises(QueryError) as error:
        read(text)
    assert what in error.value.what
    assert error.value.source is not None
    assert "date_trunc('hour', ts)" in error.value.fix


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(DISTINCT date_trunc('day', ts)) AS n FROM s",
        "SELECT k, MAX(date_trunc('day', ts)) AS n FROM s GROUP BY k",
    ],
)
def test_in_an_aggregate_a_bucket_is_a_value(sql: str) -> None:
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    assert union.aggregation is not None
    assert not union.buckets
    assert len(union.derived) == 1


def test_a_bucket_that_overlaps_others_is_grouped_by() -> None:
    sql = (
        "SELECT k, MAX(HOP_START(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR)) AS n FROM s GROUP BY k"
    )
    with pytest.raises(QueryError, match="is selected or aggregated, and not grouped by"):
        parse_sql(sql, CATALOG, name="q", file="q.sql")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("FLOOR(t TO HOUR)", ["DATE_TRUNC('hour', t)"]),
        ("time_bucket('1 hour', t)", ["DATE_TRUNC('hour', t)"]),
        ("TUMBLE_START(t, INTERVAL '1' DAY)", ["DATE_TRUNC('day', t)"]),
        ("time_bucket('15 minutes', t)", ["TIME_BUCKET(INTERVAL '15 minutes', t)"]),
        (
            "date_bin('1 day', t, TIMESTAMP '2001-01-01 06:00:00')",
            ["TIME_BUCKET(INTERVAL '1 day', t, TIMESTAMP '1970-01-01 06:00:00')"],
        ),
        (
            "TUMBLE_END(t, INTERVAL '20' MINUTE)",
            ["(TIME_BUCKET(INTERVAL '20 minutes', t) + INTERVAL '20 minutes')"],
        ),
    ],
)
def test_buckets_of_a_time_that_is_a_value(text: str, names: list[str]) -> None:
    sql = f"SELECT k, {text} AS b, COUNT(*) AS n FROM s GROUP BY k, {text}"
    union = parse_sql(sql, TIMES, name="q", file="q.sql")
    assert sorted(write_expression(made) for _, made in union.derived) == sorted(names)
    assert union.buckets == ()


def test_days_of_a_zone_are_of_a_streams_timestamp() -> None:
    sql = "SELECT COUNT(*) AS n FROM s GROUP BY date_trunc('day', t, 'Europe/Berlin')"
    with pytest.raises(QueryError, match="a value here, no stream's timestamp"):
        parse_sql(sql, TIMES, name="q", file="q.sql")
