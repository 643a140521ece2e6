"""RIGHT and FULL joins of two streams: every answer, replayed and live, as DuckDB has it over every
prefix, where a row without a partner is told from its deadline on."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_absence import HELD, Finals
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Stacked, count, make_job, run_live
from tests.runtime.in_process import replay_here, store


def _after(time: str, steps: int) -> str:
    sign, steps = ("-", -steps) if steps < 0 else ("+", steps)
    return f"{time} {sign} INTERVAL '{steps}' MICROSECOND"


def make_query(random: Random) -> tuple[Stacked, frozenset[str]]:
    """A query, and those of its columns that may be NULL in its answers."""
    side = random.choice(["RIGHT", "FULL", "FULL"])
    low = random.choice([-2, -1, 0, 1])
    high = low + random.choice([0, 1, 2])
    one, two = random.sample(["s", "t"], k=2) if random.random() < 0.8 else ("s", "s")
    conditions = [f"y.ts >= {_after('x.ts', low)}", f"y.ts <= {_after('x.ts', high)}"]
    for column in random.sample("hga", k=random.choice([0, 1, 1, 2])):
        op = random.choice(["=", "=", "<", "<>"]) if column != "g" else "="
        conditions.append(f"x.{column} {op} y.{column}")
    random.shuffle(conditions)
    on = " AND ".join(conditions)
    shown = random.sample([f"{a}.{c}" for a in "xy" for c in HELD["t"]], k=random.randint(1, 4))
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    distinct = "DISTINCT " if random.random() < 0.2 else ""
    ours = f"SELECT {distinct}{listed} FROM {one} AS x {side} JOIN {two} AS y ON {on}"
    marked = [f"(SELECT *, TRUE AS there FROM {t}) AS {a}" for t, a in ((one, "x"), (two, "y"))]
    now = "(SELECT now FROM clock)"
    final = (
        "((x.there AND y.there) "
        f"OR (y.there IS NULL AND {_after('x.ts', high)} <= {now}) "
        f"OR (x.there IS NULL AND {_after('y.ts', -low)} <= {now}))"
    )
    joined = f"FROM {marked[0]} {side} JOIN {marked[1]} ON {on} WHERE {final}"
    nulls = frozenset(
        n for n, c in zip(names, shown, strict=True) if side == "FULL" or c.startswith("x")
    )
    return Stacked(ours, f"SELECT {distinct}{listed} {joined}", names), nulls


def check(seed: int) -> None:
    random = Random(seed)
    query, nulls = make_query(random)
    data = make_data(random)
    union = parse_sql(query.ours, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    case = Case(CATALOG, union, data, MARKERS)
    oracle = Finals(case)
    oracle.nulls = nulls
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    last = max((row[-1] for n in ("s", "t") for row in data[n][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, catalog)
        options = {"statics": statics, "rows_per_range": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        ends = max(
            (row[-1] for n in "st" if f"{n} AS" in query.ours for row in data[n][1]), default=-1
        )
        for marker in range(min(last, ends) + 1):
            found = count(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            assert count(upto(live, marker), query.names) == expected[marker], (query.ours, marker)


@budget(0.1)
@given(seed=SEEDS)
def test_outer_joins_equal_duckdb(seed: int) -> None:
    check(seed)
