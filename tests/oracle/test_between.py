"""Rows of one stream, then of another one, and none of a third between: every answer, replayed and
live, as DuckDB answers the same text over every prefix; the state within the bound of counts."""

from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.blocks import advance_blocks
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_absence import HELD, compare
from tests.oracle.test_sql_nulls import CATALOG
from tests.oracle.test_stacked_queries import Stacked

_LOCAL = ("{0}.a > -2", "{0}.h = 1", "{0}.g IS NOT NULL", "{0}.a <> 0", "{0}.h IN (0, 1)")


def _make_ending(random: Random, alias: str, table: str) -> tuple[str, str]:
    """That no row of a table came between: a join, and a condition."""
    after, before = random.choice(["<", "<="]), random.choice(["<", "<="])
    conditions = [f"x.ts {after} {alias}.ts", f"{alias}.ts {before} y.ts"]
    for _ in range(random.choice([0, 1, 1, 2])):
        column = random.choice("hhga")
        conditions.append(f"{alias}.{column} = {random.choice('xxy')}.{column}")
    if random.random() < 0.4:
        conditions.append(random.choice(_LOCAL).format(alias))
    tables = f"{table} AS {alias}"
    if random.random() < 0.15:
        tables += f" CROSS JOIN r AS {alias}r"
        conditions += [f"{alias}r.h = {alias}.h", f"{alias}r.a > 0"]
    where = " AND ".join(conditions)
    if random.random() < 0.2 and "JOIN" not in tables:
        return f" LEFT JOIN {tables} ON {where}", f"{alias}.ts IS NULL"
    return "", f"NOT EXISTS (SELECT 1 FROM {tables} WHERE {where})"


def make_query(random: Random) -> Stacked:
    """A query of rows `x`, later ones `y`, and what must not come between."""
    mine, other = random.choice("sst"), random.choice("stt")
    tables = f"{mine} AS x CROSS JOIN {other} AS y"
    conditions = [f"x.ts {random.choice(['<', '<', '<='])} y.ts"]
    if random.random() < 0.2:
        apart, op = random.randint(1, 2), random.choice(["<", "<="])
        conditions.append(f"x.ts {op} y.ts - INTERVAL '{apart}' MICROSECOND")
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        column = random.choice("hhga")
        conditions.append(f"x.{column} = y.{column}")
    if random.random() < 0.35:
        op, more = random.choice(["<", "<=", ">", "<>"]), random.choice(["", "", " + 1"])
        conditions.append(f"x.{random.choice('aahg')} {op} y.{random.choice('aahg')}{more}")
    for alias in "xy":
        if random.random() < 0.3:
            conditions.append(random.choice(_LOCAL).format(alias))
    around = [("x", mine), ("y", other)]
    if random.random() < 0.2:
        tables += " CROSS JOIN r AS z"
        conditions.append(f"z.h = {random.choice('xy')}.h")
        around.append(("z", "r"))
    joins = ""
    for number in range(random.choice([1, 1, 1, 2])):
        table = mine if random.random() < 0.4 else random.choice("st")
        join, condition = _make_ending(random, f"p{number}", table)
        joins += join
        conditions.append(condition)
    every = [f"{alias}.{column}" for alias, table in around for column in HELD[table]]
    shown = random.sample([*every, "y.ts", "x.ts"], k=random.randint(1, 3))
    names = tuple(f"c{i}" for i in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    distinct = "DISTINCT " if random.random() < 0.25 else ""
    where = " AND ".join(conditions)
    text = f"SELECT {distinct}{listed} FROM {tables}{joins} WHERE {where}"
    return Stacked(text, text, names)


@budget(0.06)
@given(seed=SEEDS)
def test_rows_with_nothing_between_equal_duckdb(seed: int) -> None:
    random = Random(seed)
    query = make_query(random)
    event(f"counted: {_is_counted(_decide(query.ours))}")
    compare(random, query, frozenset())


def _decide(text: str) -> Verdict:
    return check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG, disprove=False)


def _is_counted(verdict: Verdict) -> bool:
    return any(block.between is not None for block in verdict.union.blocks)


@budget(0.06)
@given(seed=SEEDS)
def test_no_answer_is_there_more_than_once(seed: int) -> None:
    """However many rows of s a row of t meets: they are one row, with how many they are."""
    text = f"SELECT x.h AS c0, y.a AS c1 {_FROM}{_BETWEEN}"
    assert _is_counted(_decide(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(advance_blocks, "repeat_rows", lambda rows: pytest.fail("repeated"))
        compare(Random(seed), Stacked(text, text, ("c0", "c1")), frozenset())


_RATE = CATALOG.streams["s"].max_per_timestamp or 0
_LAST = (
    "FROM s AS x JOIN t AS y ON x.h = y.h AND x.ts < y.ts WHERE NOT EXISTS "
    "(SELECT 1 FROM s AS z WHERE z.h = x.h AND z.ts > x.ts AND z.ts < y.ts)"
)
_FROM = "FROM s AS x JOIN t AS y ON x.h = y.h AND x.ts < y.ts WHERE "
_BETWEEN = "NOT EXISTS (SELECT 1 FROM t AS z WHERE z.h = x.h AND z.ts > x.ts AND z.ts < y.ts)"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"SELECT x.h, y.a {_FROM}{_BETWEEN}", 3),
        (f"SELECT x.h, y.a {_FROM}{_BETWEEN.replace('z.h = x.h', 'z.h = y.h')}", 3),
        (f"SELECT x.a, y.a, y.ts {_FROM}{_BETWEEN}", 21),
        (f"SELECT y.a {_FROM}{_BETWEEN.replace('z.h = x.h AND ', '')}", 3),
        (f"SELECT x.h, y.a {_FROM}{_BETWEEN} AND {_BETWEEN.replace('FROM t', 'FROM s')}", 3),
        (f"SELECT x.h, y.a {_FROM}x.a < y.a AND {_BETWEEN}", 21),
        (f"SELECT x.h, y.a {_FROM}x.a <= y.a + 1 AND {_BETWEEN}", 21),
        (f"SELECT x.ts, x.f, y.a {_LAST}", 3 * _RATE),
        (f"SELECT x.ts, y.a {_LAST.replace('z.h = x.h', 'z.h = y.h')}", 3 * _RATE),
        (f"SELECT x.ts, x.f, y.a {_LAST.replace('z.h = x.h AND ', '')}", _RATE),
        (f"SELECT x.ts, y.a {_LAST} AND x.a > 0 AND x.f < y.a", 3 * _RATE),
    ],
)
def test_what_is_kept_is_a_count_for_each_different_row(text: str, rows: int) -> None:
    verdict = _decide(text)
    assert _is_counted(verdict)
    assert verdict.bound is not None
    assert verdict.bound.rows == rows


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT x.f, y.a {_FROM}{_BETWEEN}",
        f"SELECT x.ts, y.a {_FROM}{_BETWEEN}",
        f"SELECT x.ts, y.a {_LAST.replace('z.h = x.h', 'z.h = x.h AND z.a > 0')}",
        f"SELECT x.ts, y.a {_LAST.replace('z.h = x.h', 'z.g = x.g')}",  # which may be NULL
        f"SELECT x.h, y.a {_FROM}{_BETWEEN.replace('z.h = x.h', 'z.h = x.h AND z.a < x.a')}",
        f"SELECT x.h, y.a {_FROM}{_BETWEEN.replace('z.h = x.h', 'z.h = x.h AND z.a = y.a')}",
        f"SELECT x.h, y.a {_FROM}x.f < y.a AND {_BETWEEN}",
        (
            f"SELECT x.h, y.a {_FROM}"
            + _BETWEEN.replace("z.ts > x.ts", "z.ts > x.ts + INTERVAL '2' MICROSECOND")
        ),
    ],
)
def test_what_later_rows_tell_apart_is_not_counted(text: str) -> None:
    verdict = _decide(text)
    assert not _is_counted(verdict)
    assert verdict.tier is Tier.UNDECIDED


@pytest.mark.parametrize("other", ["z.a > 0", "z.g = 'x'"])
def test_rows_that_end_none_of_their_own_are_remembered(other: str) -> None:
    text = f"SELECT x.f, y.a {_LAST.replace('z.h = x.h', f'z.h = x.h AND {other}')}"
    verdict = check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG)
    assert verdict.tier is Tier.UNBOUNDED
    assert verdict.witness is not None
