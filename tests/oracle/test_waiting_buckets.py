"""Groups by a bucket of time of parts that wait differently, of LEFT JOIN and UNION ALL, or that do
not wait, of rows of one bucket: each group once, when nothing of any part can lie in its bucket any
more, replayed and live, as DuckDB has it over every prefix; and never more rows than the bound."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_absence import Finals
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Stacked, count, make_job, run_live
from tests.runtime.in_process import replay_here, store


def _after(time: str, steps: int) -> str:
    sign, steps = ("-", -steps) if steps < 0 else ("+", steps)
    return f"{time} {sign} INTERVAL '{steps}' MICROSECOND"


def make_query(random: Random) -> Stacked:
    """A query, and for DuckDB the same of what is over."""
    low = random.choice([-2, -1, 0, 1])
    high = low + random.choice([0, 1, 3])
    width = random.randint(1, 4)
    one, two = random.choice([("s", "t"), ("t", "s"), ("s", "s")])
    near = f"y.ts >= {_after('x.ts', low)} AND y.ts <= {_after('x.ts', high)}"
    ties = random.sample([" AND x.h = y.h", " AND x.a < y.a"], k=random.randint(0, 2))
    on = near + "".join(ties)
    group = random.choice(["h", "a"])
    bucket = f"time_bucket(INTERVAL '{width}' MICROSECOND, {{}}.ts)"
    counted = random.choice(["COUNT(*)", "SUM(v)"])  # else a part may add nothing, and not wait
    shape = random.choice(["outer", "outers", "union", "exists", "equal"])
    if shape == "equal":
        high = 0  # all of a match is in one bucket
        equal = f"{bucket.format('x')} = {bucket.format('y')}{''.join(ties)}"
        near = random.choice(["", " AND x.ts <= y.ts", f" AND y.ts <= {_after('x.ts', 1)}"])
        there = f"FROM {one} AS x JOIN {two} AS y ON {equal}{near}"
        rows = f"SELECT {bucket.format('x')} AS c0, x.{group} AS c1, y.b AS v {there}"
        counted = random.choice(["COUNT(*)", "SUM(v)", "MAX(v)", "COUNT(DISTINCT v)"])
        head = f"{bucket.format(random.choice('xy'))} AS c0, x.{group} AS c1"
        ours = f"SELECT {head}, {counted.replace('v)', 'y.b)')} AS c2 {there} "
        ours += f"GROUP BY c0, x.{group}"
    elif shape == "exists":
        there = f"EXISTS (SELECT 1 FROM {two} AS y WHERE {on})"
        more = f" AND x.{random.choice('abg')} IS NOT NULL" if random.random() < 0.3 else ""
        rows = f"SELECT {bucket.format('x')} AS c0, x.{group} AS c1, x.b AS v "
        rows += f"FROM {one} AS x WHERE {there}{more}"
        head = f"{bucket.format('x')} AS c0, x.{group} AS c1"
        counted = random.choice(["COUNT(*)", "SUM(v)", "MAX(v)", "COUNT(DISTINCT v)"])
        ours = f"SELECT {head}, {counted.replace('v)', 'x.b)')} AS c2 FROM {one} AS x "
        ours += f"WHERE {there}{more} GROUP BY c0, x.{group}"
    elif shape == "outers":
        later = random.choice([0, 2])
        other = f"z.ts >= x.ts AND z.ts <= {_after('x.ts', later)}"
        other += random.choice([" AND z.h = x.h", " AND z.h = y.h", ""])
        there = f"FROM {one} AS x LEFT JOIN {two} AS y ON {on} LEFT JOIN t AS z ON {other}"
        more = random.choice(["", f" WHERE {_is_beside(random, 'x')}", " WHERE x.a IS NOT NULL"])
        calls = random.choice(["COUNT(y.b) + 100 * COUNT(z.b)", "COUNT(*)", "COUNT(DISTINCT z.b)"])
        rows = f"SELECT {bucket.format('x')} AS c0, x.{group} AS c1, y.b, z.b AS zb {there}{more}"
        counted = calls.replace("y.b", "u.b").replace("z.b", "zb")
        ours = f"SELECT {bucket.format('x')} AS c0, x.{group} AS c1, {calls} AS c2 {there}{more} "
        ours += f"GROUP BY c0, x.{group}"
        high = max(high, later, 1 if "EXISTS" in more else 0)
    elif shape == "outer":
        other = random.choice("gab")
        call = random.choice(["COUNT(v)", "COUNT(*)", "COUNT(DISTINCT v)"])
        if call == "COUNT(v)" and random.random() < 0.5:
            other = "ts"
        of = f"(SELECT * FROM {two} WHERE h IS NOT NULL)" if random.random() < 0.3 else two
        rows = (
            f"SELECT {bucket.format('x')} AS c0, x.{group} AS c1, y.{other} AS v "
            f"FROM {one} AS x LEFT JOIN {of} AS y ON {on}"
        )
        head = f"{bucket.format('x')} AS c0, x.{group} AS c1"
        ours = f"SELECT {head}, {call.replace('v', f'y.{other}')} AS c2 "
        ours += f"FROM {one} AS x LEFT JOIN {of} AS y ON {on} GROUP BY c0, x.{group}"
        counted = call
    else:
        rows = (
            f"SELECT {bucket.format('z')} AS c0, z.{group} AS c1, z.b AS v FROM {two} AS z "
            f"UNION ALL SELECT {bucket.format('x')} AS c0, x.{group} AS c1, x.b AS v "
            f"FROM {one} AS x, {two} AS y WHERE {on}"
        )
        ours = f"SELECT c0, c1, {counted} AS c2 FROM ({rows}) AS u GROUP BY c0, c1"
    over = f"{_after('c0', width + max(0, high))} <= (SELECT now FROM clock)"
    duck = f"SELECT c0, c1, {counted} AS c2 FROM ({rows}) AS u WHERE {over} GROUP BY c0, c1"
    return Stacked(ours, duck, ("c0", "c1", "c2"))


def _is_beside(random: Random, alias: str) -> str:
    """That something is there within a step, or is not."""
    word = random.choice(["EXISTS", "NOT EXISTS"])
    near = f"w.ts >= {alias}.ts AND w.ts <= {_after(f'{alias}.ts', 1)} AND w.a = {alias}.a"
    return f"{word} (SELECT 1 FROM t AS w WHERE {near})"


def check(seed: int) -> None:
    random = Random(seed)
    query, data = make_query(random), make_data(random)
    union = parse_sql(query.ours, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    assert verdict.plans is not None, query.ours
    assert verdict.bound is not None
    case = Case(CATALOG, union, data, MARKERS)
    oracle = Finals(case)
    oracle.nulls = frozenset({"c1", "c2"})
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, catalog)
        options = {"statics": statics, "rows_per_range": 1}
        whole, kept = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        assert verdict.bound.rows is not None
        assert kept.state_rows_max <= verdict.bound.rows
        cut, _ = replay_here(patch, job, Path(folder, "3.parquet"), **options, ranges=3)
        assert count(cut, (*query.names, "at")) == count(whole, (*query.names, "at"))
        last = min(
            max((row[-1] for row in data[n][1]), default=-1)
            for n in ("s", "t")
            if f"{n} AS" in query.ours
        )
        for marker in range(last + 1):
            found = count(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            assert count(upto(live, marker), query.names) == expected[marker], (query.ours, marker)


@budget(0.15)
@given(seed=SEEDS)
def test_groups_of_parts_that_wait_equal_duckdb(seed: int) -> None:
    check(seed)


CATALOG_TEXT = """
[streams.many]
source = { format = "parquet", path = "many.parquet" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 10
columns = { k = "int", x = "int" }
[streams.few]
source = { format = "parquet", path = "few.parquet" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 1
columns = { k = "int", x = "int" }
"""
LATER = "b.ts > a.ts AND b.ts <= a.ts + INTERVAL '3' HOUR"
BY_TIME = f"""SELECT h, k, COUNT(*) AS n FROM (
  SELECT date_trunc('hour', ts) AS h, k FROM many UNION ALL
  SELECT date_trunc('hour', a.ts) AS h, a.k FROM few a JOIN few b ON {LATER} AND a.x = b.x
) u GROUP BY h, k"""


def test_groups_are_counted_for_as_long_as_any_part_waits(tmp_path: Path) -> None:
    """A run stops with an error where the state has more rows than the bound."""
    steps = 60 * 8
    for name, rate in (("many", 10), ("few", 1)):
        number = np.arange(steps * rate)
        time = pa.array(number // rate * 60_000_000, pa.timestamp("us"))
        key = number if name == "many" else number * 10
        pq.write_table(
            pa.table({"ts": time, "k": key, "x": number % 7}), tmp_path / f"{name}.parquet"
        )
    (tmp_path / "ontoweir.toml").write_text(CATALOG_TEXT, encoding="utf-8")
    catalog = load_project(tmp_path, environ={}).catalog
    union = parse_sql(BY_TIME, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    job = make_job(verdict, union, catalog)
    request = ReplayRequest(tmp_path / "out.parquet", "parquet", engine="driver")
    summary = replay_history(job, request)
    assert verdict.bound.rows / 3 < summary.state_rows_max <= verdict.bound.rows
