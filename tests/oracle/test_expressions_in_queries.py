"""Queries with expressions in SELECT, WHERE, GROUP BY and the arguments of aggregates: replayed in
one range and in several, and live, as DuckDB answers the same SQL over every prefix; and as the
printed SQL does."""

from random import Random

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_sql_nulls import CATALOG, Query, compare, make_data

_GROUPS = (
    "MOD({t}.a, 2)",
    "{t}.a * 2",
    "{t}.a + {t}.h",
    "CASE WHEN {t}.a > 0 THEN 'up' WHEN {t}.a < 0 THEN 'down' END",
    "COALESCE({t}.h, -1)",
    "UPPER({t}.g)",
    "{t}.g || '!'",
    "{t}.a IS NULL",
    "ROUND({t}.b)",
    "{t}.b * 1.5 + 1",
    "LENGTH(COALESCE({t}.g, ''))",
    "ABS({t}.a)",
)
_ARGUMENTS = (
    "{t}.a * 2 + 1",
    "{t}.b * 1.8 + 32",
    "{t}.b * {t}.a",
    "CASE WHEN {t}.g = 'x' THEN 1 ELSE 0 END",
    "CASE WHEN {t}.a > 0 THEN {t}.b END",
    "COALESCE({t}.a, {t}.h)",
    "ABS({t}.b)",
    "NULLIF({t}.h, 1)",
    "FLOOR({t}.b)",
)
_FILTERS = (
    "LOWER({t}.g) = 'x'",
    "{t}.g LIKE 'x%'",
    "MOD({t}.a, 2) = 1",
    "{t}.a * {t}.h > 1",
    "({t}.a = 1 OR {t}.g = 'y')",
    "{t}.a IS NULL",
    "{t}.a IS DISTINCT FROM {t}.h",
    "NOT ({t}.b * 2 > 1 AND {t}.g = 'x')",
    "COALESCE({t}.g, 'z') <> 'x'",
    "{t}.b / NULLIF({t}.a, 0) > 0.25",
    "CASE WHEN {t}.g = 'x' THEN {t}.a > 0 ELSE {t}.h = 1 END",
)
_JOINS = (
    "s.a * 2 = t.a + t.h",
    "s.a * 2 + 1 > t.h",
    "s.b * 1.5 < t.a + 1",
    "s.a - t.h > 0",
    "s.a * 3 - t.b * 2 <= 1",
    "COALESCE(s.g, 'x') = t.g",
    "MOD(s.a, 2) = MOD(t.a, 2)",
    "UPPER(s.g) = UPPER(t.g)",
)


def make_query(random: Random) -> Query:
    """Some aggregates of expressions, grouped by some others."""
    tables = random.choice([["s"], ["s"], ["s", "t"], ["s", "r"]])
    conditions = []
    if "t" in tables:
        conditions.append(random.choice(["s.ts < t.ts", "s.ts <= t.ts", "s.ts = t.ts"]))
        conditions.append("t.ts <= s.ts + INTERVAL '3' MICROSECOND")
        conditions.append(random.choice(_JOINS))
    if "r" in tables:
        conditions.append("s.h = r.h" if random.random() < 0.5 else "s.h + 1 = r.h * 1")
    whole = [t for t in tables if t != "r"]
    for _ in range(random.choice([0, 1, 1, 2])):
        conditions.append(random.choice(_FILTERS).format(t=random.choice(whole)))
    group = [
        random.choice(_GROUPS).format(t=random.choice(whole))
        for _ in range(random.choice([0, 1, 1, 2]))
    ]
    group = list(dict.fromkeys(group))
    columns = [(f"g{i}", c, c) for i, c in enumerate(group)]
    for n in range(random.randint(1, 4)):
        argument = random.choice(_ARGUMENTS).format(t=random.choice(whole))
        form = random.choice(["COUNT({})", "SUM({})", "MIN({})", "MAX({})", "COUNT(DISTINCT {})"])
        columns.append((f"x{n}", form.format(argument), form.format(argument)))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return Query(tuple(columns), tuple(group), ", ".join(tables) + where)


def check(seed: int) -> str:
    random = Random(seed)
    return str(compare(random, make_query(random), CATALOG, make_data(random)).tier)


@budget(0.5)
@given(seed=SEEDS)
def test_queries_with_expressions_equal_duckdb(seed: int) -> None:
    event(check(seed))
