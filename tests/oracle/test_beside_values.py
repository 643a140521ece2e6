"""Aggregates of another stream's rows before a row, and windows over the rows of a UNION ALL: every
answer, replayed and live, as DuckDB has it over every prefix."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_absence import HELD, Finals
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Stacked, count, make_job, run_live
from tests.runtime.in_process import replay_here, store

CALLS = ("COUNT(*)", "COUNT({})", "SUM({})", "AVG({})", "MIN({})", "MAX({})", "SUM({} * 2)")


def _before(time: str, steps: int) -> str:
    return f"{time} - INTERVAL '{steps}' MICROSECOND"


def _value(random: Random, row: str, alias: str, key: list[str]) -> str:
    """The value of the rows before that of `row`, of a key."""
    table = random.choice(["t", "t", "s"])
    high = random.choice([0, 0, 1])
    low = high + random.choice([0, 1, 3])
    conditions = [f"{alias}.{c} = {row}.{c}" for c in key]
    if random.random() < 0.85:
        conditions += [
            f"{alias}.ts <= {_before(f'{row}.ts', high)}",
            f"{alias}.ts >= {_before(f'{row}.ts', low)}",
        ]
    else:
        conditions.append(f"{alias}.ts {random.choice(['<', '<='])} {row}.ts")
    if random.random() < 0.3:
        conditions.append(random.choice([f"{alias}.a > -1", f"{alias}.g = 'x'"]))
    random.shuffle(conditions)
    call = random.choice(CALLS).format(f"{alias}.{random.choice('ha')}")
    return f"(SELECT {call} FROM {table} AS {alias} WHERE {' AND '.join(conditions)})"


def make_beside(random: Random) -> tuple[Stacked, frozenset[str]]:
    """A query with such values, and those of its columns that may be NULL."""
    table = random.choice("st")
    keys = [
        random.sample("ha", k=random.choice([0, 1, 1, 2])) for _ in range(random.choice([1, 2]))
    ]
    values = [_value(random, "x", f"y{n}", key) for n, key in enumerate(keys)]
    shown = [f"x.{c}" for c in random.sample(HELD[table], k=random.randint(1, 2))]
    where = [f"x.{c} IS NOT NULL" for c in "ha" if random.random() < 0.6]
    where += [f"x.h < {values[0]}"] if random.random() < 0.4 else []
    where += ["x.a <= 1"] if random.random() < 0.2 else []
    chosen = [*shown, *values]
    if random.random() < 0.2:
        chosen[-1] = f"COALESCE({values[-1]}, 0) + x.h"
        where.append("x.h IS NOT NULL")
    names = tuple(f"c{n}" for n in range(len(chosen)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(chosen, names, strict=True))
    said = f" WHERE {' AND '.join(where)}" if where else ""
    text = f"SELECT {listed} FROM {table} AS x{said}"
    there = " AND ".join(f"x.{c} IS NOT NULL" for key in keys for c in key) or "TRUE"
    duck = f"{text} {'AND' if where else 'WHERE'} {there}"  # rows whose key is NULL are no results
    return Stacked(text, duck, names), frozenset(names[len(shown) :])


def make_united(random: Random) -> tuple[Stacked, frozenset[str]]:
    """A window over the rows of both streams."""
    columns = random.sample("hag", k=2)
    kept = random.choice(["", " WHERE a > -1", " WHERE g = 'x'"])
    first = f"SELECT ts, h AS k, {columns[0]} AS v, 1 AS m FROM s{kept}"
    null = "NULL" if random.random() < 0.3 else columns[0]
    second = f"SELECT ts, h, {null}, 2 FROM t"
    rows = f"({first} UNION ALL {second}) AS u"
    call = random.choice(["COUNT(*)", "COUNT(v)", "MIN(m)", "SUM(k)", "AVG(m)"])
    low, exclude = random.choice([0, 1, 3]), random.choice(["", " EXCLUDE GROUP"])
    key = random.choice(["PARTITION BY k ", "PARTITION BY k, m ", ""])
    window = (
        f"{call} OVER ({key}ORDER BY ts RANGE BETWEEN INTERVAL '{low}' MICROSECOND PRECEDING "
        f"AND CURRENT ROW{exclude})"
    )
    text = f"SELECT k AS c0, m AS c1, {window} AS c2 FROM {rows} WHERE k IS NOT NULL"
    if random.random() < 0.4:
        text = f"SELECT c0, c1, c2 FROM ({text}) AS w WHERE c2 > {random.choice([0, 1])}"
    return Stacked(text, text, ("c0", "c1", "c2")), frozenset({"c2"})


def check(seed: int) -> str:
    random = Random(seed)
    query, nulls = random.choice([make_beside, make_beside, make_united])(random)
    data = make_data(random)
    try:
        union = parse_sql(query.ours, CATALOG, name="q", file="q.sql")
    except QueryError as error:
        if "IS NOT NULL" not in error.fix:
            raise
        return "refused"
    verdict = check_query(union, CATALOG)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    case = Case(CATALOG, union, data, MARKERS)
    oracle = Finals(case)
    oracle.nulls = nulls
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, catalog)
        options = {"statics": statics, "rows_per_range": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        ends = max((row[-1] for n in "st" for row in data[n][1]), default=-1)
        for marker in range(ends + 1):
            found = count(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            assert count(upto(live, marker), query.names) == expected[marker], (query.ours, marker)
    return str(verdict.tier)


@budget(0.1)
@given(seed=SEEDS)
def test_values_beside_rows_equal_duckdb(seed: int) -> None:
    event(check(seed))
