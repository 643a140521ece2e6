"""NOT EXISTS, EXISTS, NOT IN and IN inside of each other: every answer, replayed and live, as
DuckDB answers the same text over every prefix."""

from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_absence import HELD, compare
from tests.oracle.test_sql_nulls import CATALOG
from tests.oracle.test_stacked_queries import Stacked

_WAIT = 2
"""How long a row waits, in µs, of which something later is said inside of FROM."""


def _draw_word(random: Random) -> str:
    return random.choice(["NOT EXISTS", "NOT EXISTS", "EXISTS"])


def _draw_conditions(
    random: Random, alias: str, table: str, around: list[tuple[str, str]]
) -> list[str]:
    """What a row inside has to do with rows around it: none is later than the outermost one."""
    made = []
    if table != "r":
        made.append(f"{alias}.ts {random.choice(['<', '<='])} x.ts")
        if random.random() < 0.6:
            made.append(f"{alias}.ts > x.ts - INTERVAL '{random.randint(1, 4)}' MICROSECOND")
        timed = [a for a, t in around if t != "r"]
        if random.random() < 0.6:
            made.append(f"{alias}.ts {random.choice(['>', '>=', '<='])} {random.choice(timed)}.ts")
    for _ in range(random.choice([1, 1, 2])):
        one, of = random.choice(around)
        column = random.choice([c for c in HELD[table] if c in HELD[of]])
        op = random.choice(["=", "=", "<", "<>"]) if column != "g" else "="
        made.append(f"{alias}.{column} {op} {one}.{column}")
    return made


def _make_level(random: Random, around: list[tuple[str, str]], depth: int) -> str:
    """A condition on rows around, in which there are others, as deep."""
    alias, table = f"p{len(around)}", random.choice(["s", "t", "t", "r"])
    conditions = _draw_conditions(random, alias, table, around)
    if depth:
        conditions.append(_make_level(random, [*around, (alias, table)], depth - 1))
        if random.random() < 0.2:
            conditions.append(_make_level(random, [*around, (alias, table)], 0))
    elif random.random() < 0.3:
        one, of = around[-1]
        column = random.choice([c for c in HELD[table] if c in HELD[of]])
        where = " AND ".join(conditions)
        word = random.choice(["NOT IN", "IN"])
        return (
            f"{one}.{column} {word} (SELECT {alias}.{column} FROM {table} AS {alias} WHERE {where})"
        )
    where = " AND ".join(conditions)
    return f"{_draw_word(random)} (SELECT 1 FROM {table} AS {alias} WHERE {where})"


def make_query(random: Random) -> Stacked:
    """A row beside which something is, or is not, beside which something is, or is not."""
    table = random.choice("st")
    shown = random.choice(HELD[table])
    condition = _make_level(random, [("x", table)], random.choice([1, 1, 2]))
    if random.random() < 0.25:
        more = _make_level(random, [("x", table)], random.choice([0, 1]))
        condition += " AND " + more.replace("p1", "q1").replace("p2", "q2")
    text = f"SELECT x.{shown} AS c FROM {table} AS x WHERE {condition}"
    return Stacked(text, text, ("c",))


def _make_inside_from(random: Random) -> Stacked:
    """A row inside of which it is said, in FROM, what follows it, or not: a while after it."""
    table, other, last = random.choice("st"), random.choice("st"), random.choice("st")
    tie = random.choice(["h", "a"])
    inner = (
        f"SELECT y.{tie}, y.ts FROM {other} AS y WHERE NOT EXISTS (SELECT 1 FROM {last} AS z WHERE "
        f"z.h = y.h AND z.ts > y.ts AND z.ts <= y.ts + INTERVAL '{_WAIT}' MICROSECOND)"
    )
    back = random.randint(1, 3)
    condition = (
        f"NOT EXISTS (SELECT 1 FROM ({inner}) AS w WHERE w.{tie} = x.{tie} AND w.ts <= x.ts AND "
        f"w.ts > x.ts - INTERVAL '{back}' MICROSECOND)"
    )
    shown = random.choice(HELD[table])
    text = f"SELECT x.{shown} AS c FROM {table} AS x WHERE {condition}"
    final = f"x.ts + INTERVAL '{_WAIT}' MICROSECOND <= (SELECT now FROM clock)"
    return Stacked(text, f"{text} AND {final}", ("c",))


def check(seed: int) -> None:
    random = Random(seed)
    inside = random.random() < 0.2
    query = _make_inside_from(random) if inside else make_query(random)
    compare(random, query, frozenset())


@budget(0.2)
@given(seed=SEEDS)
def test_nested_absence_equals_duckdb(seed: int) -> None:
    try:
        check(seed)
    except QueryError as error:
        event(f"refused: {error.what}")


_NESTED = (
    "SELECT x.a FROM s AS x WHERE NOT EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND "
    "y.ts <= x.ts AND y.ts > x.ts - INTERVAL '5' MICROSECOND AND NOT EXISTS "
    "(SELECT 1 FROM t AS z WHERE z.h = y.h AND z.ts > y.ts AND {}))"
)


def test_what_is_between_is_decided() -> None:
    union = parse_sql(_NESTED.format("z.ts < x.ts"), CATALOG, name="q", file="q.sql")
    assert check_query(union, CATALOG).tier is Tier.WINDOW_BOUNDED


@pytest.mark.parametrize("until", ["z.ts <= x.ts + INTERVAL '1' MICROSECOND", "z.a = x.a"])
def test_what_may_come_later_is_refused(until: str) -> None:
    with pytest.raises(QueryError, match=r"inside of EXISTS or IN|is never final"):
        parse_sql(_NESTED.format(until), CATALOG, name="q", file="q.sql")


def test_several_rows_around_are_refused() -> None:
    """Of two rows the nested rows would be at the time of one."""
    text = _NESTED.format("z.ts < x.ts").replace(
        "FROM s AS x WHERE", "FROM s AS x, s AS v WHERE v.ts < x.ts AND v.a = y.a AND", 1
    )
    text = text.replace("v.a = y.a AND ", "", 1).replace(
        "y.h = x.h", "y.h = x.h AND y.ts > v.ts", 1
    )
    with pytest.raises(QueryError, match="inside of EXISTS or IN"):
        parse_sql(text, CATALOG, name="q", file="q.sql")


@pytest.mark.parametrize(
    "condition",
    [
        # the row around both is compared inside of the second alone
        (
            "NOT EXISTS (SELECT 1 FROM s AS p WHERE p.ts <= x.ts AND p.g = x.g AND NOT EXISTS "
            "(SELECT 1 FROM t AS q WHERE q.ts <= x.ts AND q.h < x.h))"
        ),
        # of which names do not say whose they are
        (
            "NOT EXISTS (SELECT 1 FROM s AS p WHERE p.ts <= x.ts AND d IS NOT NULL AND p.h = x.h "
            "AND f IN (SELECT f FROM s AS q WHERE q.ts <= x.ts AND q.a <> x.a))"
        ),
    ],
)
@budget(0.06)
@given(seed=SEEDS)
def test_what_only_the_innermost_compares(condition: str, seed: int) -> None:
    text = f"SELECT x.h AS c FROM t AS x WHERE {condition}"
    compare(Random(seed), Stacked(text, text, ("c",)), frozenset())


def test_two_tables_of_one_name_are_refused() -> None:
    text = _NESTED.format("z.ts < x.ts").replace("t AS z", "t AS y").replace("z.", "y.")
    with pytest.raises(QueryError, match="y is two tables"):
        parse_sql(text, CATALOG, name="q", file="q.sql")
