"""Rows that are joined while something lasts: values that are times lie between the timestamps of
rows. Replayed and live, as DuckDB has them."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.mappings.model.catalog import Column, TimestampType
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Tables
from tests.oracle.test_sql_nulls import CATALOG, make_data
from tests.oracle.test_windows import compare

DUE = Column("due", TimestampType())
LASTING = replace(
    CATALOG,
    streams={n: replace(s, columns=(*s.columns, DUE)) for n, s in CATALOG.streams.items()},
)
"""Rows of s and t have a time of their own, before or after their timestamps, or none."""


def make_lasting(random: Random) -> Tables:
    data = make_data(random)
    for name in ("s", "t"):
        columns, rows = data[name]
        made = []
        for row in rows:
            due = None if random.random() < 0.2 else max(0, row[-1] + random.randint(-3, 5))
            made.append((*row[:-1], due, row[-1]))
        data[name] = ([*columns[:-1], "due", "ts"], made)
    return data


def _apart(random: Random, column: str, most: int = 4) -> str:
    number = random.randint(-1, most)
    word, number = ("+", number) if number >= 0 else ("-", -number)
    return f"{column} {word} INTERVAL '{number}' MICROSECOND" if number else column


def draw_lasting(random: Random) -> str:
    """FROM and WHERE: each row is there until it is due, which is limited most times."""
    one, other = random.choice([("s", "t"), ("t", "s")])
    less, more = random.choice(["<", "<="]), random.choice([">", ">="])
    due = _apart(random, f"{one}.due") if random.random() < 0.4 else f"{one}.due"
    until = f"{due} {more} {other}.ts"
    if random.random() < 0.3:
        until = f"{other}.ts - {one}.due {less} INTERVAL '{random.randint(0, 3)}' MICROSECOND"
    limits = (
        f"{one}.due {less} {_apart(random, f'{one}.ts')}",
        f"{one}.due - {one}.ts {less} INTERVAL '{random.randint(0, 4)}' MICROSECOND",
        f"{one}.ts {more} {one}.due - INTERVAL '{random.randint(0, 4)}' MICROSECOND",
        f"time_bucket(INTERVAL '3' MICROSECOND, {one}.ts) {more} {one}.due",
    )
    conditions = [until, random.choice(limits), f"{one}.ts {less} {_apart(random, f'{other}.ts')}"]
    if random.random() < 0.25:
        conditions[0] = f"{other}.ts BETWEEN {one}.ts AND {due}"
    if random.random() < 0.25:
        conditions.append(f"{other}.due {more} {random.choice([one, other])}.ts")
    if random.random() < 0.3:
        conditions.append(random.choice(["s.h = t.h", "s.a <= t.a", "s.due <= t.due"]))
    random.shuffle(conditions)
    return f"s, t WHERE {' AND '.join(conditions)}"


def check(seed: int, asked: Callable[[Random], str] = draw_lasting) -> str:
    random = Random(seed)
    shown = random.sample(["s.a", "t.g", "s.ts", "t.ts", "s.due", "t.due"], k=2)
    kept = [f"{c} IS NOT NULL" for c in shown if c.endswith(("a", "g"))]
    columns = ", ".join(f"{c} AS c{n}" for n, c in enumerate(shown))
    text = f"SELECT {columns} FROM {' AND '.join([asked(random), *kept])}"
    return str(compare(random, text, make_lasting(random), LASTING).tier)


@budget(0.3)
@given(seed=SEEDS)
def test_rows_that_are_joined_while_others_last_equal_duckdb(seed: int) -> None:
    event(check(seed))


def _tier(text: str) -> Tier:
    return check_query(parse_sql(text, LASTING, name="q", file="q"), LASTING).tier


@pytest.mark.parametrize(
    "limit",
    [
        "s.due <= s.ts + INTERVAL '4' MICROSECOND",
        "s.due - s.ts < INTERVAL '4' MICROSECOND",
        "s.due - INTERVAL '4' MICROSECOND <= s.ts",
        "s.due = s.ts + INTERVAL '4' MICROSECOND",
        "s.due < TIMESTAMP '2026-01-01 00:00:00'",
    ],
)
def test_what_lasts_so_long_at_most_is_kept_so_long(limit: str) -> None:
    text = f"SELECT s.b, t.b FROM s, t WHERE s.ts <= t.ts AND t.ts < s.due AND {limit}"
    assert _tier(text) in (Tier.WINDOW_BOUNDED, Tier.TREE_BOUNDED)


@pytest.mark.parametrize(
    "limit",
    [
        "s.due >= s.ts + INTERVAL '4' MICROSECOND",  # at least so long
        "s.due <> s.ts",
        "s.due <= t.due",  # which is limited by nothing
    ],
)
def test_what_may_last_for_ever_is_not_bounded(limit: str) -> None:
    text = f"SELECT s.b, t.b FROM s, t WHERE s.ts <= t.ts AND t.ts < s.due AND {limit}"
    assert _tier(text) in (Tier.UNDECIDED, Tier.UNBOUNDED)
