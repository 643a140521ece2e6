"""Rows of two streams in one bucket of time: joined, replayed and live, as DuckDB has them; and
tables of windows that are joined on where these begin and end."""

from datetime import timedelta
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_sql_nulls import CATALOG, Query, make_data
from tests.oracle.test_sql_nulls import compare as compare_groups
from tests.oracle.test_windows import compare
from tests.runtime.in_process import EPOCH

SLIDING = "INTERVAL '1' HOUR, INTERVAL '2' HOUR"


def draw_join(random: Random) -> str:
    """FROM and WHERE; both read it alike."""
    width = random.randint(1, 5)
    s, t = (f"time_bucket(INTERVAL '{width}' MICROSECOND, {x}.ts)" for x in "st")
    if random.random() < 0.3:
        s, t = t, s
    conditions = [f"{s} = {t}"]
    ties = "s.h = t.h", "s.a <= t.a", "s.g = t.g", "s.a <> t.a", "s.b < t.b", "s.ts < t.ts"
    conditions += random.sample(ties, k=random.randint(0, 2))
    if random.random() < 0.2:
        conditions[0] = f"({conditions[0]} OR s.ts = t.ts)"
    return f"s, t WHERE {' AND '.join(conditions)}"


def check(seed: int) -> str:
    random = Random(seed)
    if random.random() < 0.5:
        shown = random.sample(["s.a", "t.g", "s.ts", "t.ts", "t.h", "s.b"], k=random.randint(1, 3))
        columns = ", ".join(f"{c} AS c{n}" for n, c in enumerate(shown))
        text = f"SELECT {columns} FROM {draw_join(random)}"
        return str(compare(random, text, make_data(random)).tier)
    groups = (
        ("g0", "s.h", "s.h"),
        ("x0", "COUNT(*)", "COUNT(*)"),
        ("x1", "MAX(t.a)", "MAX(t.a)"),
        ("x2", "SUM(s.b)", "SUM(s.b)"),
    )
    query = Query(groups, ("s.h",), draw_join(random))
    return str(compare_groups(random, query, CATALOG, make_data(random)).tier)


@budget(0.2)
@given(seed=SEEDS)
def test_rows_of_one_bucket_equal_duckdb(seed: int) -> None:
    event(check(seed))


def _draw_side(random: Random, table: str) -> str:
    """A timestamp, or its bucket, and so much later."""
    width = random.randint(1, 4)
    calls = f"time_bucket(INTERVAL '{width}' MICROSECOND, {table}.ts)", f"{table}.ts"
    made = random.choice((calls[0], calls[0], calls[1]))
    if random.random() < 0.4:
        made += f" {random.choice('+-')} INTERVAL '{random.randint(1, 5)}' MICROSECOND"
    return made


def draw_comparisons(random: Random) -> str:
    """FROM and WHERE, which compares buckets with each other, with timestamps and constants."""
    made = []
    for _ in range(random.randint(1, 3)):
        op, one, other = random.choice(("<", "<=", "=", ">=", ">")), *random.sample("st", 2)
        if random.random() < 0.6:
            made.append(f"{_draw_side(random, one)} {op} {_draw_side(random, other)}")
        elif random.random() < 0.5:
            low, high = _draw_side(random, other), _draw_side(random, other)
            made.append(f"{_draw_side(random, one)} BETWEEN {low} AND {high}")
        else:
            times = [_draw_time(random) for _ in range(2)]
            limit: tuple[str, ...]
            limit = f" {op} {times[0]}", f" BETWEEN {times[0]} AND {times[1]}", f" IN ({times[0]})"
            limit = (*limit, f" IN ({', '.join(times)})")
            made.append(_draw_side(random, one) + random.choice(limit))
    if random.random() < 0.2:
        made[0] = f"NOT ({made[0]})"
    if random.random() < 0.2:
        made[0] = f"({made[0]} OR s.ts = t.ts)"
    if random.random() < 0.7:
        made.append("s.ts <= t.ts + INTERVAL '4' MICROSECOND")
        made.append("t.ts <= s.ts + INTERVAL '4' MICROSECOND")
    return f"s, t WHERE {' AND '.join(made)}"


def _draw_time(random: Random) -> str:
    time = EPOCH + timedelta(microseconds=random.randint(-1, 12))
    return f"TIMESTAMP '{time:%Y-%m-%d %H:%M:%S.%f}'"


def check_comparisons(seed: int) -> str:
    """The tier of a random query of such comparisons, which equals DuckDB's; or its refusal."""
    random = Random(seed)
    shown = random.sample(["s.a", "t.g", "s.ts", "t.ts"], k=random.randint(1, 3))
    columns = ", ".join(f"{c} AS c{n}" for n, c in enumerate(shown))
    text = f"SELECT {columns} FROM {draw_comparisons(random)}"
    try:
        parse_sql(text, CATALOG, name="q", file="q.sql")
    except QueryError as error:
        return error.what
    return str(compare(random, text, make_data(random)).tier)


@budget(0.2)
@given(seed=SEEDS)
def test_comparisons_of_buckets_equal_duckdb(seed: int) -> None:
    event(check_comparisons(seed))


def test_tables_of_windows_are_joined() -> None:
    """As the equation of their buckets, from which follows how long a row waits."""
    s, t = (
        f"TABLE(TUMBLE(TABLE {n}, DESCRIPTOR(ts), INTERVAL '4' MICROSECOND)) {n}2" for n in "st"
    )
    on = "s2.window_start = t2.window_start AND s2.window_end = t2.window_end AND s2.a = t2.a"
    text = f"SELECT s2.g, s2.window_start FROM {s} JOIN {t} ON {on}"
    bound = check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG).bound
    assert bound is not None
    assert bound.rows == 2 * 20 * 3


def _overlapping(random: Random) -> str:
    """Rows of windows that overlap, and all that are in one with them; each as often as there are
    such windows. Both read the text alike."""
    slide, often = random.randint(1, 3), random.randint(1, 3)

    def rows(name: str, columns: str) -> str:
        width = f"INTERVAL '{slide}' MICROSECOND"
        parts = [f"{n * slide}" for n in range(often)]
        selects = (
            f"SELECT {columns}, time_bucket({width}, ts - INTERVAL '{n}' MICROSECOND) AS w "
            f"FROM {name}"
            for n in parts
        )
        return f"({' UNION ALL '.join(selects)})"

    more = random.choice(["", " AND x.h = y.h", " AND x.a <= y.a", " AND x.ts < y.ts"])
    left, right = rows("s", "h, a, b, ts"), rows(random.choice("st"), "h, a, g, ts")
    return f"SELECT x.a AS c0, y.g AS c1 FROM {left} AS x JOIN {right} AS y ON x.w = y.w{more}"


@budget(0.05)
@given(seed=SEEDS)
def test_rows_of_overlapping_windows_equal_duckdb(seed: int) -> None:
    random = Random(seed)
    text = _overlapping(random)
    assert compare(random, text, make_data(random)).bound is not None


def test_tables_of_sliding_windows_are_joined() -> None:
    """As often as rows are in one window; without the equation all values are kept."""
    given = "INTERVAL '2' MICROSECOND, INTERVAL '4' MICROSECOND"
    s, t = (f"TABLE(HOP(TABLE {n}, DESCRIPTOR(ts), {given})) {n}2" for n in "st")
    text = f"SELECT s2.b, t2.b AS other FROM {s} JOIN {t} ON s2.window_start = t2.window_start"
    twin = f"SELECT s2.b, t2.b AS other FROM {s} JOIN {t} ON s2.a = t2.a"
    bounds = [
        check_query(parse_sql(q, CATALOG, name="q", file="q.sql"), CATALOG).bound
        for q in (text, twin)
    ]
    assert [b is not None and "steps" in str(b.formula) for b in bounds] == [True, False]


def test_sliding_buckets_are_not_compared() -> None:
    """A row is in several of them."""
    on = f"HOP_START(s.ts, {SLIDING}) = HOP_START(t.ts, {SLIDING})"
    with pytest.raises(QueryError, match="outside"):
        parse_sql(f"SELECT s.g FROM s, t WHERE {on}", CATALOG, name="q", file="q.sql")


def test_buckets_of_other_lengths() -> None:
    """Their equation bounds how long a row waits as well: by the longer one."""
    text = "SELECT s.g FROM s, t WHERE date_trunc('hour', s.ts) = date_trunc('day', t.ts)"
    bound = check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG).bound
    assert bound is not None
    assert f"R(s) · {86_400_000_000 - 1} steps" in str(bound.formula)
