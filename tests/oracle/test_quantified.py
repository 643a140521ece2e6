"""Comparisons with all values of a subquery, or with any, whose columns have NULL, which is
declared or not, as DuckDB answers the same text."""

from dataclasses import replace
from random import Random

import pytest

from tests.oracle.test_free_shapes import FAR, NULLABLE, compare
from tests.oracle.test_sql_nulls import CATALOG, make_data

ROWS = (
    "SELECT y.{c} FROM t AS y WHERE y.ts <= x.ts AND y.ts > x.ts - INTERVAL '3' MICROSECOND",
    "SELECT y.{c} FROM t AS y WHERE y.h = x.h AND y.ts < x.ts",
    "SELECT y.{c} FROM s AS y WHERE y.ts >= x.ts AND y.ts < x.ts + INTERVAL '2' MICROSECOND",
)


def draw(random: Random) -> str:
    """A condition of a row and those that a subquery has."""
    op = random.choice(["<", "<=", ">", ">="])
    kind = random.choice([f"{op} ALL", f"{op} ALL", f"{op} ANY", "NOT IN", "IN"])
    mine, other = random.choice([("a", "a"), ("b", "b"), ("a", "b"), ("h", "a")])
    said = f"x.{mine} {kind} ({random.choice(ROWS).format(c=other)})"
    return f"NOT ({said})" if random.random() < 0.3 else said


def check(seed: int) -> str:
    random = Random(seed)
    catalog, data = random.choice([CATALOG, NULLABLE]), make_data(random)
    catalog = replace(catalog, relations=CATALOG.relations)
    last = {"a": 0, "b": 0, "g": "x", "h": 0, "ts": FAR}
    for name in "st":
        columns, rows = data[name]
        data[name] = columns, [*rows, tuple(last.get(c) for c in columns)]
    text = f"SELECT x.h AS c0 FROM s AS x WHERE x.h IS NOT NULL AND {draw(random)}"
    return compare(random, (text, ("c0",)), (catalog, data))


@pytest.mark.many(2)
@pytest.mark.parametrize("seed", range(24))
def test_what_is_null_is_neither_less_nor_greater(seed: int) -> None:
    check(seed)


def test_most_of_them_are_bounded() -> None:
    came = [check(seed) for seed in range(24, 48)]
    assert sum("answers: True" in what for what in came) > 8, came
