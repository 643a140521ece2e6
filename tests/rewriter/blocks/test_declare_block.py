"""What follows for the answers of an aggregate query, as a stream that another query reads."""

import re
from dataclasses import replace

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    FloatType,
    IntType,
    Lag,
    Reference,
    Relation,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.model.spj import Block, SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql

NONE = DataSource("parquet", "none")
HOUR = 3_600_000_000
STEP = 60_000_000
COLUMNS = (
    Column("k", IntType(), minimum=1, maximum=10),
    Column("v", IntType()),
    Column("kind", StringType(), enum=("a", "b")),
    Column("road", IntType()),
)
CATALOG = Catalog(
    {
        "s": Stream(
            "s", NONE, "ts", STEP, 5, COLUMNS, references=(Reference(("road",), "r", ("id",)),)
        ),
        "t": Stream("t", NONE, "ts", STEP, None, COLUMNS),
    },
    {"r": Relation("r", NONE, (Column("id", IntType()),), (("id",),), max_rows=7)},
)


def read(inner: str, outer: str = "SELECT * FROM x", catalog: Catalog = CATALOG) -> Block:
    sql = f"WITH x AS ({inner}) {outer}"
    (block,) = parse_sql(sql, catalog, name="q", file="q.sql").blocks
    return block


HOURLY = "SELECT k, date_trunc('hour', ts) AS hour, {} FROM s GROUP BY k, hour"


def test_a_group_is_a_key_and_its_columns_keep_their_domains() -> None:
    block = read(HOURLY.format("AVG(v) AS mean, MAX(k) AS top, COUNT(*) AS n, COUNT(v) AS m"))
    stream = block.stream
    assert (stream.name, stream.timestamp, stream.step_us) == ("x", "at", STEP)
    assert stream.keys == (("k", "at"),)
    assert stream.columns == (
        Column("k", IntType(), minimum=1, maximum=10),
        Column("mean", FloatType()),
        Column("top", IntType(), minimum=1, maximum=10),
        # at most 5 rows a minute; those with and without a k are counted apart
        Column("n", IntType(), minimum=1, maximum=600),
        Column("m", IntType(), minimum=0, maximum=600),
    )
    assert block.time == ("hour", HOUR)


@pytest.mark.parametrize(
    ("inner", "most"),
    [
        # ten values, and NULL
        (HOURLY.format("COUNT(*) AS n"), 11),
        ("SELECT k, kind, FLOOR(ts TO HOUR) AS h, COUNT(*) AS n FROM s GROUP BY k, kind, h", 33),
        ("SELECT FLOOR(ts TO HOUR) AS h, COUNT(*) AS n FROM s GROUP BY h", 1),
        # a condition makes the values fewer
        (
            "SELECT k, FLOOR(ts TO HOUR) AS h, COUNT(*) AS n FROM s WHERE k <= 3 GROUP BY k, h",
            4,
        ),
        # any value: as many as rows lie in an hour
        (
            "SELECT v, FLOOR(ts TO HOUR) AS h, COUNT(*) AS n FROM s WHERE v > 0 GROUP BY v, h",
            300,
        ),
        ("SELECT v, FLOOR(ts TO HOUR) AS h, COUNT(*) AS n FROM t GROUP BY v, h", None),
    ],
)
def test_how_many_answers_are_final_at_one_time(inner: str, most: int | None) -> None:
    assert read(inner).stream.max_per_timestamp == most


def test_references_stay() -> None:
    block = read("SELECT road, FLOOR(ts TO HOUR) AS h, COUNT(*) AS n FROM s GROUP BY road, h")
    assert block.stream.references == (Reference(("road",), "r", ("id",)),)


@pytest.mark.parametrize(
    ("inner", "times"),
    [
        # where a bucket begins and ends is a time before the timestamp
        (
            (
                "SELECT TUMBLE_START(ts, INTERVAL '5' MINUTE) AS b, TUMBLE_END(ts, INTERVAL '5' "
                "MINUTE) AS e, COUNT(*) AS n FROM s GROUP BY TUMBLE(ts, INTERVAL '5' MINUTE)"
            ),
            ["at - INTERVAL '300000000' MICROSECOND AS b", "at AS e"],
        ),
        (
            (
                "SELECT window_start, window_end, COUNT(*) AS n FROM TABLE(HOP(TABLE s, "
                "DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)) "
                "GROUP BY window_start, window_end"
            ),
            ["at - INTERVAL '120000000' MICROSECOND AS window_start", "at AS window_end"],
        ),
        # days and weeks of UTC are equally long
        (
            "SELECT date_trunc('day', ts) AS d, COUNT(*) AS n FROM s GROUP BY d",
            ["at - INTERVAL '86400000000' MICROSECOND AS d"],
        ),
        (
            "SELECT date_trunc('week', ts) AS w, COUNT(*) AS n FROM s GROUP BY w",
            ["at - INTERVAL '604800000000' MICROSECOND AS w"],
        ),
        (
            "SELECT date_trunc('day', ts, 'Europe/Paris') AS d, COUNT(*) AS n FROM s GROUP BY d",
            ["d,"],
        ),
        # of a calendar, and of buckets that grow, the beginning is a value like any
        ("SELECT date_trunc('month', ts) AS m, COUNT(*) AS n FROM s GROUP BY m", ["m,"]),
        (
            (
                "SELECT CUMULATE_START(ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS b, "
                "CUMULATE_END(ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS e, COUNT(*) AS n FROM "
                "s GROUP BY b, e"
            ),
            ["b,", "at AS e"],
        ),
    ],
)
def test_where_a_bucket_begins_and_ends(inner: str, times: list[str]) -> None:
    sql = f"SELECT * FROM ({inner}) x"
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    (block,) = union.blocks
    streams = {**CATALOG.streams, "x": block.stream}
    alone = replace(union, blocks=())
    shown = print_sql(alone, replace(CATALOG, streams=streams)).replace("\n", " ")
    for time in times:
        assert time in re.sub(" +", " ", shown)


def test_a_bucket_that_ends_between_two_steps_is_over_at_the_next() -> None:
    block = read(
        "SELECT k, TUMBLE_START(ts, INTERVAL '90' SECOND) AS b, COUNT(*) AS n FROM s "
        "GROUP BY k, TUMBLE(ts, INTERVAL '90' SECOND)"
    )
    assert block.time is None
    assert block.stream.column("b") == Column("b", TimestampType())
    assert block.stream.keys == (("k", "at"),)


def test_several_buckets_in_one_step_are_no_key() -> None:
    block = read(
        "SELECT k, TUMBLE_START(ts, INTERVAL '7' SECOND) AS b, COUNT(*) AS n FROM s "
        "GROUP BY k, TUMBLE(ts, INTERVAL '7' SECOND)"
    )
    assert block.stream.keys == ()
    assert block.stream.max_per_timestamp is None


def test_one_query_is_made_once_however_often_it_is_read() -> None:
    hourly = HOURLY.format("COUNT(*) AS n")
    union = parse_sql(
        f"SELECT a.k FROM ({hourly}) a, ({hourly}) b WHERE a.k = b.k AND a.hour < b.hour",
        CATALOG,
        name="q",
        file="q.sql",
    )
    assert [b.stream.name for b in union.blocks] == ["a"]
    assert {o.table for q in union.disjuncts for o in q.occurrences} == {"a"}


@pytest.mark.parametrize(
    "outer",
    [
        "SELECT day, AVG(n) AS a FROM x GROUP BY day",
        "SELECT date_trunc('week', day) AS w, SUM(n) AS a FROM x GROUP BY w",
        "SELECT x.n, y.n AS m FROM x, x AS y WHERE x.k = y.k AND y.day = x.day + INTERVAL '1' DAY",
    ],
)
def test_what_is_asked_of_days_is_bounded(outer: str) -> None:
    inner = "SELECT k, date_trunc('day', ts) AS day, COUNT(*) AS n FROM s GROUP BY k, day"
    sql = f"WITH x AS ({inner}) {outer}"
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    assert check_query(union, CATALOG).plans


@pytest.mark.parametrize(
    "day",
    [
        "CAST(ts AS DATE)",
        "date_trunc('day', ts, 'Europe/Paris')",
        "date_trunc('month', ts)",
        "date_trunc('year', ts, 'Asia/Tokyo')",
    ],
)
def test_groups_by_what_rises_are_final_at_once(day: str) -> None:
    inner = f"SELECT k, v, {day} AS d, COUNT(*) AS n FROM s GROUP BY k, v, {day}"
    again = "SELECT d, k, MAX(n) AS n FROM x GROUP BY d, k"
    for text in (
        f"WITH x AS ({inner}) SELECT d, MAX(n) AS n FROM x GROUP BY d",
        f"WITH x AS ({inner}), y AS ({again}) SELECT d, MAX(n) AS n FROM y GROUP BY d",
    ):
        assert check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG).plans


def test_groups_by_a_part_of_a_time_stay() -> None:
    """What is alike at several times tells none."""
    inner = "SELECT k, HOUR(ts) AS d, v, date_trunc('hour', ts) AS t FROM s GROUP BY 1, 2, 3, 4"
    text = f"WITH x AS ({inner}) SELECT v, d, COUNT(*) AS n FROM x GROUP BY v, d"
    assert check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG).plans is None


def test_a_query_over_a_query_over_a_query() -> None:
    sql = (
        f"WITH h AS ({HOURLY.format('COUNT(*) AS n')}), d AS (SELECT k, date_trunc('day', hour) AS "
        "day, MAX(n) AS top FROM h GROUP BY k, day) SELECT k, top FROM d WHERE top > 3"
    )
    (block,) = parse_sql(sql, CATALOG, name="q", file="q.sql").blocks
    assert block.stream.name == "d"
    assert [b.stream.name for b in block.union.blocks] == ["h"]


@pytest.mark.parametrize(
    ("inner", "outer", "what"),
    [
        ("SELECT COUNT(DISTINCT v) AS n FROM s", "SELECT n FROM x", "groups are not final"),
        ("SELECT COUNT(*) AS n FROM s", "SELECT n FROM x", "group by a bucket of time too"),
        (HOURLY.format("COUNT(*) AS at"), "SELECT at FROM x", "a column called at"),
        (HOURLY.format("COUNT(*) AS n"), "SELECT m FROM x", "unknown column 'm' of x"),
        (
            HOURLY.format("COUNT(*) AS n"),
            "SELECT date_trunc('month', n) AS m, COUNT(*) AS c FROM x GROUP BY m",
            "is not a stream's timestamp",
        ),
    ],
)
def test_what_is_refused(inner: str, outer: str, what: str) -> None:
    with pytest.raises(QueryError, match=re.escape(what)) as caught:
        read(inner, outer)
    assert caught.value.source is not None
    assert caught.value.source.line == 1


def test_duplicates_count_inside_although_not_outside() -> None:
    outer = "SELECT MAX(n) AS top FROM x"
    block = read(HOURLY.format("COUNT(*) AS n"), outer)
    assert not block.union.distinct
    inner = "SELECT date_trunc('hour', ts) AS h, COUNT(*) AS n FROM (SELECT DISTINCT k, ts FROM s)"
    union = parse_sql(f"WITH x AS ({inner} GROUP BY h) {outer}", CATALOG, name="q", file="q.sql")
    assert [b.union.distinct for b in list_all(union)] == [False, True]


def list_all(union: SpjUnion) -> list[Block]:
    """The blocks of a query, each before those that it reads."""
    return [b for block in union.blocks for b in (block, *list_all(block.union))]


def test_answers_of_a_set_are_there_once() -> None:
    outer = "SELECT x.k, COUNT(*) AS n FROM x JOIN t ON t.k = x.k GROUP BY x.k"
    stream = read("SELECT DISTINCT k, kind FROM s", outer).stream
    assert stream.columns == (
        Column("k", IntType(), minimum=1, maximum=10),
        Column("kind", StringType(), enum=("a", "b")),
    )
    assert stream.keys == (("k", "kind", "at"),)
    # as many as there are rows; those with and without a k, and a kind, are counted apart
    assert stream.max_per_timestamp == 20
    assert read("SELECT DISTINCT kind FROM s", "SELECT COUNT(*) AS n FROM x").stream == replace(
        stream,
        columns=stream.columns[1:],
        keys=(("kind", "at"),),
        max_per_timestamp=3,
    )


def test_a_time_that_a_set_shows_is_that_of_its_answers() -> None:
    outer = "SELECT x.k FROM x JOIN t ON t.k = x.k AND t.ts = x.ts"
    block = read("SELECT DISTINCT k, ts FROM s", outer)
    assert block.time == ("ts", 0)
    assert [c.name for c in block.stream.columns] == ["k"]
    # of two rows, each has its own time, and the answer is there with the later one
    inner = "SELECT DISTINCT s.k, s.ts FROM s, t AS z WHERE z.k = s.k AND z.ts > s.ts"
    block = read(inner, outer)
    assert block.time is None
    assert block.stream.column("ts") == Column("ts", TimestampType())
    assert block.stream.max_per_timestamp is None


def with_lag() -> Catalog:
    """Rows of s come at most two hours after those of t that they join on v."""
    lag = Lag("t", ("v",), ("v",), 2 * HOUR)
    return replace(
        CATALOG, streams={**CATALOG.streams, "s": replace(CATALOG.streams["s"], lags=(lag,))}
    )


JOINED = "FROM s, t AS z WHERE z.ts <= s.ts AND s.ts <= z.ts + INTERVAL '1' HOUR"
BY_VALUE = "SELECT v, date_trunc('hour', ts) AS hour, COUNT(*) AS n FROM s GROUP BY v, hour"


def test_a_lag_passes_to_groups_with_what_is_left_of_their_bucket() -> None:
    stream = read(BY_VALUE, catalog=with_lag()).stream
    assert stream.lags == (Lag("t", ("v",), ("v",), 3 * HOUR + STEP),)


@pytest.mark.parametrize(
    "inner",
    [
        HOURLY.format("MAX(v) AS v"),  # rows of other values are in the group, too
        f"SELECT s.v, date_trunc('hour', s.ts) AS hour, COUNT(*) AS n {JOINED} GROUP BY s.v, hour",
    ],
)
def test_twin_of_other_values_and_of_joins_it_does_not(inner: str) -> None:
    assert read(inner, catalog=with_lag()).stream.lags == ()


def test_a_query_rests_on_a_lag_of_what_it_reads() -> None:
    outer = "SELECT t.k FROM t, x WHERE t.ts <= x.at AND t.v = x.v"
    for catalog, bounded in ((CATALOG, False), (with_lag(), True)):
        union = parse_sql(f"WITH x AS ({BY_VALUE}) {outer}", catalog, name="q", file="q.sql")
        assert (check_query(union, catalog).plans is not None) is bounded
