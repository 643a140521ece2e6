"""HAVING, and expressions over aggregates: every row that is written, replayed and live, as DuckDB
answers the same SQL over the prefix; of running groups, and of buckets of time."""

from dataclasses import replace
from random import Random

from hypothesis import event, given

from ontoweir.errors import QueryError
from tests.oracle import test_buckets, test_sql_nulls
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_sql_nulls import CATALOG, Query, make_data, make_query

LEAVES = "and later not"


def _stays(random: Random, query: Query, columns: list[str]) -> str:
    """A condition that stays true."""
    number = random.choice([c for c in columns if c[-1] in "abh"])
    column, n = random.choice(columns), random.randint(0, 4)
    choices = [
        f"COUNT(*) > {n}",
        f"COUNT({column}) >= {n}",
        f"COUNT(DISTINCT {column}) > {n - 1}",
        f"MAX({number}) >= {n - 2}",
        f"MIN({number}) < {n - 1}.5",
        f"MAX({number}) - MIN({number}) > {n - 1}",
        f"NOT (COUNT(*) <= {n})",
        f"NOT (MIN({number}) >= 0 OR {n} > COUNT(*))",
        f"MAX({number}) IS NOT NULL",
        f"COUNT(*) + MAX({number}) > {n}",
        f"- MIN({number}) + 0.25 > {n - 2}",
        f"MAX({number}) * 2 >= COUNT(*) * 0 + {n - 1}",
        f"COUNT(*) / 4.0 > {n / 3:.3f}",
        f"FLOOR(MAX({number}) * 0.7) >= {n - 2}",
    ]
    if "s.h" in columns:
        choices += [f"SUM(s.h) > {n}", f"SUM(s.h) + COUNT(*) >= {n}"]
    if "s.d" in columns:
        choices.append(f"MAX(s.d) > DATE '2000-01-0{n + 1}'")
    for key in query.group:
        match key[-1]:
            case "g":
                choices.append(f"{key} = 'x'")
            case "a" | "h" | "b":
                choices += [f"{key} >= {n - 2}", f"{key} IS NULL", f"COUNT(*) > {key}"]
            case _:
                choices.append(f"{key} <> DATE '2000-01-02'")
    return random.choice(choices)


def _may_leave(random: Random, columns: list[str]) -> str:
    number = random.choice([c for c in columns if c[-1] in "abh"])
    n = random.randint(-1, 4)
    return random.choice(
        [
            f"AVG({number}) > {n / 7:.4f}",
            f"SUM({number}) <= {n}",
            f"COUNT(*) < {n}",
            f"COUNT(*) = {n}",
            f"COUNT(*) BETWEEN 2 AND {n}",
            f"MIN({number}) > {n - 2}",
            f"MAX({number}) IS NULL",
            f"SUM({number}) - MIN({number}) >= {n}",
            f"MAX({number}) > COUNT(*)",
            f"CAST(COUNT(*) AS STRING) <> '{n}'",
            f"COALESCE(SUM({number}), {n}) > 0",
            f"COUNT(*) IN (1, {n})",
        ]
    )


def _condition(random: Random, query: Query, columns: list[str], *, leaving: float) -> str:
    """A random condition on the row of a group."""
    if random.random() < 0.7:
        if random.random() < leaving:
            return _may_leave(random, columns)
        return _stays(random, query, columns)
    sides = (_condition(random, query, columns, leaving=leaving) for _ in range(2))
    left, right = sides
    made = f"({left} {random.choice(['AND', 'OR'])} {right})"
    return f"NOT {made}" if random.random() < 0.3 * bool(leaving) else made


def _expression(random: Random, query: Query, columns: list[str]) -> str:
    """An expression over aggregates."""
    number = random.choice([c for c in columns if c[-1] in "abh"])
    column, n = random.choice(columns), random.randint(1, 4)
    choices = [
        f"SUM({number}) * {n}",
        f"COUNT(*) / {n}.0",
        f"AVG({number}) - MIN({number})",
        f"MAX({number}) - MIN({number})",
        f"CASE WHEN COUNT(*) > {n} THEN 'many' ELSE 'few' END",
        f"COALESCE(SUM({number}), 0) + COUNT({column})",
        f"COUNT(*) > {n}",
        f"COUNT(*) % {n + 1}",
        f"SUM({number}) / COUNT(*)",
        f"COUNT(DISTINCT {column}) - COUNT({column})",
        f"GREATEST(COUNT(*), {n})",
    ]
    choices += [f"CASE WHEN COUNT(*) > {n} THEN {key} END" for key in query.group]
    return random.choice(choices)


def add_having(random: Random, query: Query, *, leaving: float) -> Query:
    """The query with HAVING, with expressions over aggregates, or with both."""
    tables = query.rest.split(" WHERE ")[0].split(", ")
    held = {"s": "abghd", "t": "abgh", "r": "hag"}
    columns = [f"{t}.{c}" for t in tables for c in held[t]]
    if random.random() < 0.8:
        query = replace(query, having=_condition(random, query, columns, leaving=leaving))
    more = []
    for i in range(random.choice([0, 1, 1, 2])):
        text = _expression(random, query, columns)
        more.append((f"x_{i}", text, text))
    shown = [c for c in query.columns if c[0].startswith("g") or random.random() < 0.5]
    if not (shown or more):
        return query
    if not more and all(c[0].startswith("g") for c in shown) and not query.having:
        return query
    return replace(query, columns=(*shown, *more))


def check_running(seed: int) -> None:
    random = Random(seed)
    query = add_having(random, make_query(random), leaving=random.choice([0.0, 0.3]))
    try:
        verdict = test_sql_nulls.compare(random, query, CATALOG, make_data(random))
    except QueryError as error:
        if "without an aggregate" not in error.what and LEAVES not in error.what:
            raise
        event("refused")
        return
    event(str(verdict.tier))


def check_buckets(seed: int) -> None:
    random = Random(seed)
    query = add_having(random, make_query(random), leaving=0.6)
    try:
        test_buckets.compare(random, test_buckets.end_stream(random, query))
    except QueryError as error:
        if "without an aggregate" not in error.what:
            raise


@budget(0.5)
@given(seed=SEEDS)
def test_rows_that_have_it_equal_duckdb(seed: int) -> None:
    check_running(seed)


@budget(0.5)
@given(seed=SEEDS)
def test_final_rows_that_have_it_equal_duckdb(seed: int) -> None:
    check_buckets(seed)
