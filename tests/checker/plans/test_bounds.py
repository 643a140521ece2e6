"""What a bound counts: the least of domains and tuples kept, keys, clipping, fronts, dates."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    Reference,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql

_DAY = 86_400_000_000


def _stream(name: str, *, start: bool = False, keyed: bool = False) -> Stream:
    return Stream(
        name,
        DataSource("parquet", None),
        "ts",
        1_000_000,
        5,
        (
            Column("a", IntType()),
            Column("b", IntType()),
            Column("p", IntType(), 0, 4),
            Column("big", IntType(), 0, 999),
            Column("f", FloatType()),
            Column("h", FloatType(), 0.0, 1.0),
            Column("d", DecimalType(6, 1)),
            Column("g", StringType()),
            Column("id", IntType(), 1, 3),
            Column("sensor", IntType()),
        ),
        keys=(("id", "ts"),) if keyed else (),
        references=(Reference(("sensor",), "sensors", ("id",)),),
        start_us=18262 * _DAY if start else None,  # 2020-01-01
    )


def _check(sql: str, *, start: bool = False, keyed: bool = False) -> Verdict:
    sensors = Relation(
        "sensors",
        DataSource("parquet", None),
        (Column("id", IntType()), Column("road", IntType()), Column("city", StringType())),
        (("id",),),
        max_rows=20,
    )
    catalog = Catalog(
        {n: _stream(n, start=start, keyed=keyed) for n in "stuv"}, {"sensors": sensors}
    )
    return check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)


def _rows(verdict: Verdict) -> int | None:
    assert verdict.bound is not None, verdict.tier
    return verdict.bound.rows


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        # what is above all values of t.p is not kept; 0 and below are one
        ("SELECT 1 FROM s, t WHERE s.a <= t.p", 5 + 5),
        ("SELECT 1 FROM s, t WHERE s.a < t.p", 5 + 5),
        ("SELECT 1 FROM s, t WHERE s.a <> t.p", 7 + 5),
        # a double: on one of five values, between two, below or above all
        ("SELECT 1 FROM s, t WHERE s.f <= t.p", 11 + 5),
        # two streams of one second each way: five tuples a step, though big has 1,000 values
        (
            "SELECT s.big FROM s, t WHERE s.ts < t.ts AND t.ts <= s.ts + INTERVAL 2 SECONDS",
            5 * 2,
        ),
        # and a domain that is smaller than the tuples of a long window
        (
            "SELECT s.p FROM s, t WHERE s.ts < t.ts AND t.ts <= s.ts + INTERVAL 900 SECONDS",
            5 * 900,
        ),
        # the sensor determines its road and city: 20, not 20 · 20 · 20
        (
            (
                "SELECT s.sensor, r.road, r.city FROM s, t, sensors r "
                "WHERE s.ts < t.ts AND s.sensor = r.id"
            ),
            20,
        ),
        # without the sensor in the result it does not help
        (
            "SELECT r.road, r.city FROM s, t, sensors r WHERE s.ts < t.ts AND s.sensor = r.id",
            400,
        ),
        # the best of each side, or the second best where the times must differ
        (
            (
                "SELECT DISTINCT 1 FROM s, t, u WHERE s.ts <> t.ts AND s.ts < u.ts AND t.ts < u.ts "
                "AND s.a < u.a AND t.a < u.b"
            ),
            1 + 1 + 4 + 1,
        ),
    ],
)
def test_a_bound(sql: str, rows: int) -> None:
    assert _rows(_check(sql)) == rows


def test_a_key_limits_how_many_share_a_timestamp() -> None:
    sql = "SELECT s.a, s.id FROM s, t WHERE s.ts < t.ts AND t.ts <= s.ts + INTERVAL 2 SECONDS"
    assert _rows(_check(sql)) == 5 * 2
    assert _rows(_check(sql, keyed=True)) == 3 * 2


_DATED = (
    "SELECT s.a FROM s, t WHERE s.a < t.a AND t.ts <= TIMESTAMP '2020-01-01 00:00:59'",
    "SELECT 1 FROM s, t WHERE s.a <> t.b AND t.ts <= TIMESTAMP '2020-01-01 00:00:59'",
    "SELECT DISTINCT s.p FROM s, t WHERE s.f = t.f AND t.ts <= TIMESTAMP '2020-01-01 00:00:59'",
)


@pytest.mark.parametrize("sql", _DATED)
def test_after_its_last_date_nothing_waits_for_a_finite_stream(sql: str) -> None:
    verdict = _check(sql)
    assert verdict.plans
    assert _rows(verdict) is None  # since when s and t have delivered is not declared


@pytest.mark.parametrize("sql", _DATED)
def test_a_declared_start_gives_the_number(sql: str) -> None:
    rows = _rows(_check(sql, start=True))
    assert rows is not None
    assert rows <= 4 * 5 * 60 + 5


def test_a_third_stream_may_still_need_the_value() -> None:
    twin = _DATED[0].replace("FROM s, t", "FROM s, t, u")
    assert _check(twin).tier is Tier.UNBOUNDED


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM s, t WHERE s.h < t.h",
        "SELECT DISTINCT 1 FROM s, t WHERE s.h < t.h AND t.f < s.f",
        "SELECT s.g FROM s, t WHERE s.g < 'm' AND s.g > 'k'",
        "SELECT DISTINCT 1 FROM s, t WHERE s.a < t.a AND t.a < s.a + 3",
        "SELECT DISTINCT 1 FROM s, t WHERE s.f < t.f AND t.f < s.f + 3",
        "SELECT s.d FROM s, t WHERE t.d = 0.5 AND s.b > 2",
        "SELECT s.f FROM s, t WHERE s.f >= 2.5 AND s.f <= 3.5 AND t.d >= 0.5",
        "SELECT s.sensor, s.a FROM s, t WHERE s.d < t.d AND t.p <> 0",
    ],
)
def test_dense_and_mixed_values_leave_room_for_a_witness(sql: str) -> None:
    assert _check(sql).tier is Tier.UNBOUNDED


def test_a_key_determines_what_is_joined_with_its_relation() -> None:
    """Rows that wait for those of another stream have not met its relation yet."""
    joined = "SELECT DISTINCT s.id FROM s JOIN sensors r ON r.id = s.id"
    later = f"{joined} JOIN t ON t.id = s.id AND t.sensor = r.road AND t.ts < s.ts"
    # the rows of t: any of its three ids with any of twenty roads
    assert (_rows(_check(later)) or 0) >= 3 * 20
    earlier = f"{joined} JOIN t ON t.id = s.id AND t.sensor = r.road AND t.ts > s.ts"
    assert (_rows(_check(earlier)) or 0) < 3 * 20  # those of s have one road for each id
