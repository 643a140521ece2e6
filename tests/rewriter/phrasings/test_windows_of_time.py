"""Windows and sessions as Spark and Flink write them, and parts of a time that make a bucket."""

from dataclasses import replace

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Column, Relation, TimestampType
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from tests.rewriter.phrasings.test_phrasings import CATALOG, READING, SENSOR, read

GAP = "INTERVAL '30' MINUTE"
STREAM = "SELECT sensor, {} FROM reading GROUP BY sensor, {}"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            (
                "SELECT window.start, window.end, COUNT(*) AS n FROM reading "
                "GROUP BY window(ts, '10 minutes')"
            ),
            (
                "SELECT TUMBLE_START(ts, INTERVAL '10' MINUTE) AS start, TUMBLE_END(ts, INTERVAL "
                "'10' "
                "MINUTE) AS end, COUNT(*) AS n FROM reading GROUP BY TUMBLE(ts, INTERVAL '10' "
                "MINUTE)"
            ),
        ),
        (
            (
                "SELECT window(ts, '1 hour').start AS h, COUNT(*) AS n FROM reading "
                "GROUP BY WINDOW(ts, '1 hour')"
            ),
            "SELECT date_trunc('hour', ts) AS h, COUNT(*) AS n FROM reading GROUP BY h",
        ),
        (
            (
                "SELECT sensor, window AS w, COUNT(*) AS n FROM reading "
                "GROUP BY sensor, window(ts, '1 hour', '10 minutes')"
            ),
            (
                "SELECT sensor, HOP_START(ts, INTERVAL '10' MINUTE, INTERVAL '1' HOUR) AS w_start, "
                "HOP_END(ts, INTERVAL '10' MINUTE, INTERVAL '1' HOUR) AS w_end, COUNT(*) AS n FROM "
                "reading GROUP BY sensor, HOP(ts, INTERVAL '10' MINUTE, INTERVAL '1' HOUR)"
            ),
        ),
        (
            (
                "SELECT window(ts, '1 hour', '1 hour', '15 minutes') AS w, sensor, COUNT(*) AS n "
                "FROM "
                "reading GROUP BY 1, 2 HAVING MAX(level) > 3"
            ),
            (
                "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR, INTERVAL '15' MINUTE) AS w_start, "
                "TUMBLE_END(ts, INTERVAL '1' HOUR, INTERVAL '15' MINUTE) AS w_end, sensor, "
                "COUNT(*) AS "
                "n FROM reading GROUP BY TUMBLE(ts, INTERVAL '1' HOUR, INTERVAL '15' MINUTE), "
                "sensor HAVING MAX(level) > 3"
            ),
        ),
    ],
)
def test_windows_of_spark_are_buckets(text: str, same: str) -> None:
    one, other = read(text), read(same)
    assert replace(one, aggregation=None) == replace(other, aggregation=None)
    assert repr(one.aggregation) == repr(other.aggregation)


@pytest.mark.parametrize(
    ("text", "bucket"),
    [
        ("date_format(ts, 'yyyy-MM-dd')", "day"),
        ("date_format(ts, 'dd.MM.yyyy HH')", "1 hour"),
        ("date_format(ts, \"yyyy-MM-dd'T'HH:mm\")", "1 minute"),
        ("FLOOR(unix_timestamp(ts) / 300)", "5 minutes"),
        ("FLOOR(EPOCH(ts) / 3600)", "1 hour"),
    ],
)
def test_parts_that_make_a_bucket(text: str, bucket: str) -> None:
    found = read(f"SELECT {text} AS x, COUNT(*) AS n FROM reading GROUP BY {text}")
    ((_, column),) = found.buckets
    assert bucket in column.name


@pytest.mark.parametrize(
    "text",
    [
        "date_format(ts, 'MM-dd')",
        "FLOOR(level / 300)",
        "FLOOR(unix_timestamp(ts) / level)",
        "FLOOR(unix_timestamp(ts) / 999999999999)",
    ],
)
def test_parts_that_make_none(text: str) -> None:
    found = read(f"SELECT {text} AS x, COUNT(*) AS n FROM reading GROUP BY {text}")
    assert found.buckets == ()


@pytest.mark.parametrize(
    "text",
    [
        STREAM.format("session_window.start, COUNT(*) AS n", f"session_window(ts, {GAP})"),
        STREAM.format("session_window.start, COUNT(*) AS n", "session_window(ts, '30 minutes')"),
        STREAM.format(f"SESSION_START(ts, {GAP}) AS start, COUNT(*) AS n", f"SESSION(ts, {GAP})"),
        (
            "SELECT sensor, window_start AS start, COUNT(*) AS n FROM TABLE(SESSION(TABLE reading "
            f"PARTITION BY sensor, DESCRIPTOR(ts), {GAP})) GROUP BY sensor, window_start, "
            f"window_end"
        ),
        (
            "SELECT s.sensor, s.window_start AS start, COUNT(*) AS n FROM SESSION(DATA => TABLE "
            f"reading PARTITION BY (sensor), TIMECOL => DESCRIPTOR(ts), GAP => {GAP}) AS s "
            "GROUP BY s.sensor, s.window_start"
        ),
    ],
)
def test_ways_to_ask_for_sessions(text: str) -> None:
    made = read(text).aggregation
    assert made is not None
    assert (made.session_us, made.group) == (1_800_000_000, ("sensor",))
    assert made.columns == ("sensor", "start", "n")


def test_a_session_is_its_two_ends() -> None:
    made = read(
        f"SELECT session_window(ts, {GAP}) AS w, COUNT(*) AS n FROM reading GROUP BY w"
    ).aggregation
    assert made is not None
    assert made.columns == ("w_start", "w_end", "n")
    assert (made.session_us, made.group) == (1_800_000_000, ())


@pytest.mark.parametrize(
    "rest",
    [
        "WITH x AS (SELECT sensor, ts FROM reading) {} FROM x GROUP BY w",
        "WITH x AS (SELECT * FROM reading), y AS (SELECT * FROM x) {} FROM y GROUP BY w",
        (
            "WITH x (s, ts) AS (SELECT sensor, ts FROM reading UNION ALL SELECT sensor, ts FROM "
            "other) {} FROM x GROUP BY w"
        ),
        "WITH reading AS (SELECT * FROM reading WHERE level > 3) {} FROM reading GROUP BY w",
        "{} FROM (SELECT * FROM reading) AS x GROUP BY w",
        "CREATE VIEW x (s, ts) AS SELECT sensor, ts FROM reading; {} FROM x GROUP BY w",
        (
            "CREATE VIEW x AS SELECT * FROM reading; CREATE TEMP VIEW y AS SELECT * FROM x WHERE "
            "level > 3; WITH z AS (SELECT ts FROM y) {} FROM z GROUP BY w;"
        ),
    ],
)
@pytest.mark.parametrize("call", [f"session_window(ts, {GAP})", "window(ts, '1 hour')"])
def test_names_of_windows_over_what_with_names(rest: str, call: str) -> None:
    made = read(rest.format(f"SELECT {call} AS w, COUNT(*) AS n")).aggregation
    assert made is not None
    assert made.columns == ("w_start", "w_end", "n")


@pytest.mark.parametrize(
    "rest",
    [
        "WITH x AS (SELECT sensor, ts, level AS w FROM reading) {} FROM x GROUP BY w",
        "WITH x AS (SELECT *, level + 1 AS w FROM reading) {} FROM (SELECT * FROM x) GROUP BY w",
    ],
)
def test_a_column_of_what_with_names_goes_before_a_name(rest: str) -> None:
    with pytest.raises(QueryError, match=r"neither grouped nor aggregated"):
        read(rest.format("SELECT window(ts, '1 hour') AS w, COUNT(*) AS n"))


@pytest.mark.parametrize("shown", ["sensor, session_window.start AS b, COUNT(*) AS n", "*"])
def test_distinct_of_sessions_that_are_apart(shown: str) -> None:
    shown = shown if shown != "*" else "session_window AS w, sensor"
    made = read(f"SELECT DISTINCT {shown} FROM reading GROUP BY sensor, session_window(ts, {GAP})")
    assert made.aggregation is not None
    assert made.aggregation.session_us is not None
    with pytest.raises(QueryError, match="DISTINCT beside sessions"):
        read(
            "SELECT DISTINCT session_window.start AS b, COUNT(*) AS n FROM reading GROUP BY sensor,"
            f" session_window(ts, {GAP})"
        )


def test_groups_under_union_all_are_rows_of_subqueries() -> None:
    part = "SELECT sensor, date_trunc('{0}', ts) AS b, COUNT(*) AS n FROM reading GROUP BY 1, 2"
    made = read(f"{part.format('hour')} UNION ALL {part.format('day')}")
    assert made.aggregation is None
    assert made.variables == ("sensor", "b", "n")
    assert len(made.blocks) == 2
    running = "SELECT sensor, COUNT(*) AS n FROM reading GROUP BY sensor"
    assert read(f"{running} UNION ALL {running}").joined is not None  # they come and go
    with pytest.raises(QueryError, match="groups are not final"):
        read(f"{running} UNION ALL SELECT 1, COUNT(*) AS n FROM reading")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("YYYY-MM-DD", "%Y-%m-%d"), ("DD/MM/YYYY HH24:MI:SS", "%d/%m/%Y %H:%M:%S")],
)
def test_formats_of_postgresql_are_those_of_strftime(given: str, meant: str) -> None:
    text = "SELECT {} AS d, COUNT(*) AS n FROM reading GROUP BY 1"
    assert read(text.format(f"TO_CHAR(ts, '{given}')")) == read(
        text.format(f"STRFTIME(ts, '{meant}')")
    )


def test_other_formats_are_refused() -> None:
    with pytest.raises(QueryError):
        read("SELECT TO_CHAR(ts, 'Month') AS d FROM reading")


def test_expressions_over_aggregates_of_several_parts() -> None:
    made = read(
        "SELECT date_trunc('hour', a.ts) AS h, COUNT(b.level) / COUNT(a.hum) AS x FROM reading a "
        "LEFT JOIN other b ON b.hum = a.hum AND b.ts <= a.ts GROUP BY date_trunc('hour', a.ts)"
    ).aggregation
    assert made is not None
    assert made.columns == ("h", "x")


@pytest.mark.parametrize(
    ("rest", "buckets"),
    [
        ("FROM (SELECT ts AS t FROM reading) AS x GROUP BY CAST(t AS DATE)", 1),
        (
            "FROM (SELECT x.t FROM (SELECT ts AS t FROM reading) AS x) y GROUP BY CAST(t AS DATE)",
            1,
        ),
        ("FROM (SELECT *, ts AS t FROM reading) AS x GROUP BY CAST(x.t AS DATE)", 1),
        ("FROM (SELECT until AS t, 1 AS x FROM trip) AS x GROUP BY CAST(t AS DATE)", 0),
        ("FROM (SELECT until AS ts FROM trip) AS x GROUP BY CAST(ts AS DATE)", 0),
        (
            (
                "FROM (SELECT MAX(ts) AS t FROM reading GROUP BY date_trunc('hour', ts)) AS x "
                "GROUP BY CAST(t AS DATE)"
            ),
            0,
        ),
    ],
)
def test_days_of_times_and_of_values(rest: str, buckets: int) -> None:
    time = "x.t" if "x.t AS DATE" in rest else ("ts" if "ts AS DATE" in rest else "t")
    trip = replace(
        READING, name="trip", columns=(*READING.columns, Column("until", TimestampType()))
    )
    catalog = replace(CATALOG, streams={**CATALOG.streams, "trip": trip})
    text = f"SELECT CAST({time} AS DATE) AS d, COUNT(*) AS n {rest}"
    made = parse_sql(text, catalog, name="q", file="q.sql")
    of_days = [c for _, c in made.buckets if c.bucket is not None and "day" in c.name]
    assert len(of_days) == buckets


@pytest.mark.parametrize(
    ("rest", "buckets"),
    [
        ("WITH x (a, t) AS (SELECT sensor, ts FROM reading) {} FROM x GROUP BY YEAR(t)", 1),
        (
            (
                "WITH x AS (SELECT ts AS t FROM reading UNION ALL SELECT ts FROM other) {} "
                "FROM x GROUP BY YEAR(t)"
            ),
            1,
        ),
    ],
)
def test_years_of_times_that_with_names(rest: str, buckets: int) -> None:
    made = read(rest.format("SELECT YEAR(t) AS y, COUNT(*) AS n"))
    assert sum("year" in column.name for _, column in made.buckets) >= buckets


def test_a_window_may_be_called_so() -> None:
    for group in ("window", "window, sensor", "window HAVING COUNT(*) > 1"):
        made = read(
            f"SELECT window(ts, '1 hour') AS window, COUNT(*) AS n FROM reading GROUP BY {group}"
        ).aggregation
        assert made is not None
        assert made.columns == ("window_start", "window_end", "n")


def test_a_year_of_weeks_is_refused() -> None:
    with pytest.raises(QueryError, match="write the year as 'yyyy-MM'"):
        read("SELECT date_format(ts, 'YYYY-MM') AS d, sensor FROM reading")
    read("SELECT date_format(ts, 'yyyy-MM') AS d, sensor FROM reading WHERE sensor = 'Y'")


LATER = "SELECT 1 FROM other b"
INNER = (
    "SELECT sensor, session_window.start AS b, session_window.end AS e, MAX(ts) AS last, COUNT(*) "
    f"AS n FROM reading GROUP BY sensor, session_window(ts, {GAP})"
)


@pytest.mark.parametrize(
    "rest",
    [
        "SELECT sensor, n, e FROM w WHERE n > 3",
        "SELECT date_trunc('day', last) AS d, AVG(n) AS a FROM w GROUP BY date_trunc('day', last)",
        "SELECT n, date_trunc('day', w.b) AS d FROM w",
    ],
)
def test_sessions_are_a_stream_for_other_queries(rest: str) -> None:
    (block,) = read(f"WITH w AS ({INNER}) {rest}").blocks
    assert block.union.aggregation is not None
    assert block.union.aggregation.session_us == 1_800_000_000
    assert {"e", "last"}.isdisjoint(c.name for c in block.stream.columns)
    assert block.stream.keys == (("sensor", "at"),)
    assert block.stream.max_per_timestamp == 3  # two sensors, and none
    assert block.time == ("last", 1_800_000_000)


@pytest.mark.parametrize(
    ("rows", "behind"),
    [
        ("reading a, other b WHERE a.sensor = b.sensor AND b.ts BETWEEN a.ts - {0} AND a.ts", 0),
        ("reading a JOIN other b ON a.sensor = b.sensor AND b.ts = a.ts", 0),
        (f"reading a WHERE NOT EXISTS ({LATER} WHERE b.ts < a.ts)", 0),
        (
            f"reading a WHERE NOT EXISTS ({LATER} WHERE b.ts > a.ts AND b.ts < a.ts + {{0}})",
            3_540_000_000,
        ),
    ],
)
def test_sessions_of_answers(rows: str, behind: int) -> None:
    rows = rows.format("INTERVAL '1' HOUR")
    made = read(
        f"SELECT a.sensor, COUNT(*) AS n FROM {rows} GROUP BY a.sensor, session_window(a.ts, {GAP})"
    )
    assert made.aggregation is not None
    assert made.aggregation.session_us == 1_800_000_000
    assert made.aggregation.session_behind_us == behind
    assert len(made.blocks) == 1


def test_a_column_goes_before_a_name() -> None:
    text = "SELECT window(ts, '1 hour') AS level, COUNT(*) AS n FROM reading GROUP BY "
    made = read(f"{text}window(ts, '1 hour'), level").aggregation
    assert made is not None
    assert len(made.group) == 3
    text = f"SELECT session_window(ts, {GAP}) AS sensor, COUNT(*) AS n FROM reading GROUP BY "
    made = read(f"{text}session_window(ts, {GAP}), sensor").aggregation
    assert made is not None
    assert made.session_us is not None
    assert len(made.group) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STREAM.format("COUNT(*) AS n", "session_window(ts, '0 minutes')"), "the gap"),
        (STREAM.format("COUNT(*) AS n", "session_window(ts, 30)"), "of other arguments"),
        (STREAM.format("COUNT(*) AS n", f"session_window(level, {GAP})"), "when rows are there"),
        (STREAM.format("COUNT(*) AS n", "session_window(ts, '9999999 days')"), "the gap"),
        (STREAM.format("window.start", "window(ts, '9999999 days')"), "other arguments"),
        (
            f"SELECT DISTINCT sensor, session_window(ts, {GAP}).start FROM reading",
            "not grouped by",
        ),
        (
            (
                "SELECT sensor, COUNT(*) AS n FROM TABLE(SESSION(TABLE reading PARTITION BY "
                "sensor, "
                f"DESCRIPTOR(ts), {GAP})) GROUP BY sensor"
            ),
            "not grouped by",
        ),
        (
            (
                "SELECT COUNT(*) AS n FROM TABLE(SESSION(TABLE reading PARTITION BY sensor, "
                f"DESCRIPTOR(ts), {GAP})) GROUP BY window_start, window_end"
            ),
            "grouped by other columns",
        ),
        (
            STREAM.format("COUNT(*) AS n", f"session_window(ts, {GAP})").replace(
                "FROM reading", "FROM reading WHERE ts > NOW() - INTERVAL '1' HOUR"
            ),
            "sessions beside",
        ),
        (
            (
                "SELECT a.sensor, COUNT(*) AS n FROM reading a, other b WHERE a.sensor = b.sensor "
                "AND "
                "b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR GROUP BY a.sensor, "
                f"session_window(a.ts, {GAP})"
            ),
            "not when rows are there",
        ),
        (
            STREAM.format("COUNT(*) AS n", f"session_window(ts, {GAP})").replace(
                "FROM reading", "FROM reading WHERE ts <= NOW() - INTERVAL '1' HOUR"
            ),
            "sessions of rows with a delay",
        ),
        (
            (
                "SELECT level, sensor, COUNT(*) AS n FROM TABLE(SESSION(TABLE reading PARTITION BY "
                f"sensor, DESCRIPTOR(ts), {GAP})) GROUP BY level, sensor, window_start, window_end"
            ),
            "grouped by other columns",
        ),
        (
            (
                "SELECT sensor, COUNT(*) AS n FROM TABLE(SESSION(TABLE reading, DESCRIPTOR(ts), "
                f"{GAP})) GROUP BY sensor, window_start, window_end"
            ),
            "grouped by other columns",
        ),
        (
            (
                "SELECT sensor, COUNT(*) AS n FROM TABLE(SESSION(TABLE reading PARTITION BY "
                f"sensor, DESCRIPTOR(ts), {GAP})) WHERE level > 3 GROUP BY sensor, window_start"
            ),
            "WHERE, or a join",
        ),
        (
            STREAM.format(
                "session_window(ts, '1 minute').start AS a", f"session_window(ts, {GAP})"
            ),
            "another time or gap",
        ),
        (
            STREAM.format("SESSION_START(ts, INTERVAL '1' MINUTE) AS a", f"SESSION(ts, {GAP})"),
            "another time or gap",
        ),
        (
            STREAM.format("window.start", "window(ts, '10 minutes'), window(ts, '1 hour')"),
            "beside other windows",
        ),
        (STREAM.format("window.start", "window(ts, '5 minutes', '10 minutes')"), "other arguments"),
        (STREAM.format("window.start", "window(ts, '1 month')"), "other arguments"),
        (
            "SELECT window(ts, '10').start AS w, COUNT(*) AS n FROM reading GROUP BY w",
            "of other arguments",
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        check_query(read(text), CATALOG)
    assert message in str(caught.value)


def test_sessions_are_not_printed_as_sql() -> None:
    union = read(STREAM.format("COUNT(*) AS n", f"session_window(ts, {GAP})"))
    with pytest.raises(QueryError, match="is not printed as SQL"):
        print_sql(union, CATALOG)


def test_sessions_of_what_rows_meet_are_as_many() -> None:
    """A row that meets several rows of a static relation opens as many sessions."""
    sites = Relation("site", SENSOR.data, SENSOR.columns, max_rows=30)
    catalog = Catalog({"reading": READING}, {"site": sites})
    text = "SELECT {}, COUNT(*) AS n FROM reading r{} GROUP BY {}, session_window(r.ts, '1 minute')"
    plain = parse_sql(text.format("r.hum", "", "r.hum"), catalog, name="q", file="q.sql")
    joined = text.format("s.city", " JOIN site s ON s.id = r.sensor", "s.city")
    bounds = [
        check_query(union, catalog).bound
        for union in (plain, parse_sql(joined, catalog, name="q", file="q.sql"))
    ]
    assert [b.rows for b in bounds if b is not None] == [22, 62]
