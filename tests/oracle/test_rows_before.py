"""Rows with the latest ones before them, which NOT EXISTS says to have no other between: as DuckDB
answers the same text, with NULL, ties and empty streams."""

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.test_free_shapes import compare, draw_data

ONLY = ("{0}.a > -2", "{0}.g = 'x'", "{0}.b IS NOT NULL", "{0}.h <> 1", "{0}.a + 1 < 3")


def draw(random: Random) -> str:
    """A row of s, or t, with another one before it, or after it, and what is said of both."""
    mine, other = random.choice([("s", "t"), ("s", "s"), ("t", "s")])
    until = random.random() < 0.4 and mine != other
    op, back = ("<=", ">=") if until else ("<", ">")
    only = random.sample(ONLY, k=random.choice([0, 0, 1, 2]))
    key = random.choice(["c.h = a.h", "a.h = c.h", "c.h = b.h"])
    upper = random.choice([f"c.ts {op} a.ts", f"a.ts {back} c.ts"])
    inner = [key, "c.ts > b.ts", upper, *(o.format("c") for o in only)]
    random.shuffle(inner)
    absent = f"NOT EXISTS (SELECT 1 FROM {other} AS c WHERE {' AND '.join(inner)})"
    said = ["b.h = a.h", f"b.ts {op} a.ts", *(o.format("b") for o in only)]
    if random.random() < 0.1:
        said[1] = "b.ts < a.ts"
    random.shuffle(said)
    more = random.sample(["a.a > -1", "a.g = 'x'", "a.b > 0"], k=random.choice([0, 1]))
    shown, rest = "a.h AS c0, a.b AS c1, b.b AS c2, b.a + a.a AS c3", ""
    if random.random() < 0.3:
        shown = "a.h AS c0, COUNT(*) AS c1, COUNT(b.b) AS c2, MAX(b.a - a.a) AS c3"
        rest = " GROUP BY a.h"
    greatest = f"(SELECT MAX(c.ts) FROM {other} AS c WHERE c.h = a.h AND c.ts {op} a.ts)"
    match random.randint(0, 5):
        case 0:
            where = [absent, *more]
            body = f"{mine} AS a LEFT JOIN {other} AS b ON {' AND '.join(said)}"
        case 1:
            where, on = more or ["1 = 1"], " AND ".join([*said, absent])
            body = f"{mine} AS a LEFT JOIN {other} AS b ON {on}"
        case 2:
            extra = random.sample(["b.a < a.a", "b.a > -3", "b.g <> a.g"], k=random.choice([0, 1]))
            body, where = f"{mine} AS a, {other} AS b", [*said, *more, *extra, absent]
        case 3:
            body = f"{other} AS b JOIN {mine} AS a ON {' AND '.join(said)}"
            where = [*more, absent]
        case 4:  # the greatest time, and maybe that it is before
            also = random.choice(["", f" AND b.ts {op} a.ts", f" AND a.ts {back} b.ts"])
            where, side = more or ["1 = 1"], random.choice(["LEFT ", ""])
            join = f"b.h = a.h AND b.ts = {greatest}{also}"
            body = f"{mine} AS a {side}JOIN {other} AS b ON {join}"
        case _:
            lag = random.choice(["a.ts - b.ts > INTERVAL '1' MICROSECOND", "1 = 1"])
            body = f"{mine} AS a JOIN {other} AS b ON {' AND '.join(said)}"
            where = [absent, lag, *more]
    return f"SELECT {shown} FROM {body} WHERE a.h IS NOT NULL AND {' AND '.join(where)}{rest}"


def draw_by_register(random: Random) -> str:
    """A row with the latest one of another stream whose key a static relation says."""
    mine, other = random.choice([("s", "t"), ("t", "s"), ("s", "s")])
    op, time = random.choice([("<", "a.ts > b.ts"), ("<=", "b.ts <= a.ts")])
    on = random.choice(["r.h = a.h", "r.a >= 0", "r.a IN (0, 1, 2)", "r.a >= a.h"])
    only = random.choice(["", "", "b.a > -2", "b.g IS NOT NULL"])
    where = random.choice(["1 = 1", "a.b > 0", "b.a IS NOT NULL", "1 = 1"])
    body = f"{mine} AS a JOIN r ON {on} "
    match random.randint(0, 2):
        case 0:
            rows = f"(SELECT * FROM {other} AS b WHERE {only or 'b.h >= 0'})"
            side = random.choice(["ASOF", "ASOF LEFT"])
            body += f"{side} JOIN {rows} AS b ON b.h = r.a AND {time}"
        case 1:
            rest = f"b.h = r.a AND b.ts {op} a.ts{f' AND {only}' if only else ''}"
            inner = f"SELECT * FROM {other} AS b WHERE {rest} ORDER BY b.ts DESC LIMIT 1"
            body += f"LEFT JOIN LATERAL ({inner.replace('*', 'b.a, b.b', 1)}) AS b ON TRUE"
        case _:
            body += f"ASOF JOIN {other} AS b ON r.a = b.h AND {time}"
    if random.random() < 0.3:
        return (
            "SELECT a.h AS c0, COUNT(*) AS c1, COUNT(b.b) AS c2, MAX(b.a - a.a) AS c3 "
            f"FROM {body} WHERE a.h IS NOT NULL AND {where} GROUP BY a.h"
        )
    shown = "a.h AS c0, r.h AS c1, b.b AS c2, a.a + b.a AS c3"
    return f"SELECT {shown} FROM {body} WHERE r.h IS NOT NULL AND a.h IS NOT NULL AND {where}"


def check(seed: int, draw: Callable[[Random], str] = draw) -> str:
    random = Random(seed)
    over = draw_data(random)
    while not over[0].streams["s"].keys:
        over = draw_data(random)
    return compare(random, (draw(random), ("c0", "c1", "c2", "c3")), over)


@pytest.mark.many(2)
@pytest.mark.parametrize("seed", range(12))
def test_the_latest_row_whose_key_a_register_says(seed: int) -> None:
    check(seed, draw_by_register)


def test_most_of_those_by_a_register_are_answered() -> None:
    came = Counter(check(seed, draw_by_register) for seed in range(100, 120))
    assert sum(n for what, n in came.items() if "answers: True" in what) > 4, came


@pytest.mark.many(2)
@pytest.mark.parametrize("seed", range(24))
def test_the_row_before_as_not_exists_says(seed: int) -> None:
    check(seed)


def test_most_of_them_are_bounded_and_answered() -> None:
    came = Counter(check(seed) for seed in range(100, 130))
    assert sum(n for what, n in came.items() if "answers: True" in what) > 15, came


def _decide(text: str) -> str:
    """The formula of the bound of a query, over streams with keys whose decimals have no limits."""
    random = Random(1)
    catalog, _ = draw_data(random)
    while not catalog.streams["s"].keys:
        catalog, _ = draw_data(random)
    verdict = check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog)
    return str(verdict.bound and verdict.bound.rows)


ROWS = (
    "SELECT a.h, b.f FROM s AS a JOIN s AS b ON b.h = a.h AND b.ts < a.ts "
    "WHERE NOT EXISTS (SELECT 1 FROM s AS c WHERE {})"
)


@pytest.mark.parametrize(
    ("inner", "rows"),
    [
        ("c.h = a.h AND c.ts > b.ts AND c.ts < a.ts", "3"),
        ("c.h = b.h AND b.ts < c.ts AND a.ts > c.ts", "3"),
        # b need not have what c has, so that there may be several
        ("c.h = a.h AND c.ts > b.ts AND c.ts < a.ts AND c.g = 'x'", "None"),
        # those of the last time before, whatever their key
        ("c.ts > b.ts AND c.ts < a.ts", "20"),
    ],
)
def test_one_row_a_key_is_kept_where_it_is_the_latest(inner: str, rows: str) -> None:
    assert _decide(ROWS.format(inner)) == rows
