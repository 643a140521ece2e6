"""Rows in sliding windows beside which earlier ones are there, or not: their changes and snapshots,
replayed and live, as DuckDB answers the same text at every time, with NOW() as that time."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import event, given

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from ontoweir.runtime.live.make_live_job import make_live_job
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.run_kernel import few_touched
from tests.oracle.test_latest import fold
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Prefixes, Stacked, make_job
from tests.runtime.in_process import replay_here, store
from tests.runtime.live_cases import cut_arrivals, make_table


def make_query(random: Random) -> Stacked:
    """A query over rows `x` in a window, and earlier rows `y` beside them."""
    n, other = random.randint(1, 3), random.choice("stt")
    tie = random.choice(["y.h = x.h", "y.a = x.a", "y.a < x.a", "y.h = x.h AND y.g = x.g"])
    past = f"y.ts <= x.ts{random.choice(['', f' - {_us(1)}'])} AND y.ts > x.ts - {_us(n + 1)}"
    window = f"x.ts > NOW() - {_us(random.randint(1, 4))}"
    if random.random() < 0.15:
        window = f"x.ts <= NOW() - {_us(random.randint(1, 3))} AND x.ts > NOW() - {_us(5)}"
    mine = random.choice(["", "", " AND x.a > -2"])
    rows = f"SELECT 1 FROM {other} AS y WHERE {tie} AND {past}"
    match random.randint(0, 4):
        case 0 | 1:
            body = f"s AS x WHERE NOT EXISTS ({rows})"
        case 2:
            body = f"s AS x WHERE EXISTS ({rows})"
        case 3:
            body = (
                f"s AS x WHERE x.a NOT IN (SELECT y.a FROM {other} AS y WHERE y.a = x.a AND {past})"
            )
        case _:
            body = f"s AS x LEFT JOIN {other} AS y ON {tie} AND {past} WHERE x.h IS NOT NULL"
    body = f"{body}{mine} AND {window}"
    optional = ["COUNT(y.a)", "MAX(y.h)"] if "LEFT" in body else ["SUM(x.a)"]
    if random.random() < 0.5 or "LEFT" in body:
        calls = random.sample(["COUNT(*)", "MIN(x.a)", *optional], k=2)
        shown, rest = ["x.h", *calls], " GROUP BY x.h"
    else:
        shown, rest = random.sample(["x.h", "x.a", "x.b", "x.g"], k=2), ""
    names = tuple(f"c{i}" for i in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    text = f"SELECT {listed} FROM {body}{rest}"
    known = "" if rest else " WHERE c0 IS NOT NULL AND c1 IS NOT NULL"
    return Stacked(text, f"SELECT * FROM ({text}) AS told{known}", names)


def _us(n: int) -> str:
    return f"INTERVAL '{n}' MICROSECOND"


class At(Prefixes):
    """DuckDB at times."""

    def holding(self, query: Stacked, marker: int) -> Counter[Any]:
        for name in self.names:
            source = f"all_{name}" + (
                "" if name == "r" else f" WHERE ts <= make_timestamp({marker})"
            )
            self.base.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM {source}")
        text = query.duck.replace("NOW()", f"make_timestamp({marker})")
        return Counter(self.base.execute(text).fetchall())


def run_live(
    query: QueryJob,
    case: Case,
    random: Random,
    folder: Path,
    more: Mapping[str, pa.Table] | None = None,
) -> tuple[list[dict[str, Any]], int]:
    """A live run whose state is read back after every other micro-batch, and its last marker;
    `more`: other static relations than those of the case."""
    statics = {n: make_table(case, n, case.data[n][1]) for n in case.catalog.relations}
    statics |= {n: rows for n, rows in (more or {}).items() if n not in statics}
    job = make_live_job([query], case.catalog, statics, {})
    state, rows = begin_live(job), list[dict[str, Any]]()
    with few_touched():
        for number, batch in enumerate(
            cut_arrivals(case, random, {h.stream.name for h in job.histories})
        ):
            outcome = advance_live(job, state, batch, 0.0)
            place = commit_batch(folder, "fingerprint", CommitRecord("run"), outcome)
            known = load_state(place, "fingerprint", job)[0]
            state = known if number % 2 else outcome.state
            rows += outcome.answers[0].to_pylist()
    return rows, -1 if state.finished_us is None else state.finished_us


def check(seed: int) -> None:
    """One random query over random rows."""
    random = Random(seed)
    query, data = make_query(random), make_data(random)
    union = parse_sql(query.ours, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    case = Case(CATALOG, union, data, MARKERS)
    oracle = At(case)
    expected = [oracle.holding(query, m) for m in range(MARKERS)]
    read = ("s", "t") if " t AS y" in query.ours else ("s",)
    last = max((row[-1] for n in read for row in data[n][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = replace(
            make_job(verdict, union, stored),
            emit=Emit.CHANGES,
            bound=bound_changes(verdict, CATALOG).rows,
        )
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for marker in range(last + 1):
            found = fold(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        live, until = run_live(replace(job, catalog=CATALOG), case, random, Path(folder))
        for marker in range(until + 1):
            found = fold(upto(live, marker), query.names)
            assert found == expected[marker], ("live", query.ours, marker)
    event(f"answers: {len(whole) > 0}")


@budget(0.1)
@given(seed=SEEDS)
def test_windows_beside_earlier_rows_equal_duckdb(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (
            (
                "NOT EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts > x.ts) "
                "AND x.ts > NOW() - INTERVAL '9' MICROSECOND OR x.a = 3"
            ),
            "at any time later",
        ),
        (
            (
                "NOT EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts <= x.ts AND y.ts > "
                "NOW() - INTERVAL '9' MICROSECOND)"
            ),
            "may leave its window",
        ),
    ],
)
def test_windows_that_would_take_answers_back(where: str, what: str) -> None:
    with pytest.raises(QueryError, match=what):
        parse_sql(f"SELECT x.h FROM s AS x WHERE {where}", CATALOG, name="q", file="q.sql")
