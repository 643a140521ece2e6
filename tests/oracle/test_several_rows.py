"""Expressions of several rows, in SELECT, WHERE, GROUP BY and aggregates: replayed and live, as
DuckDB answers the same SQL over every prefix."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_delays import _last_rows
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data
from tests.oracle.test_stacked_queries import make_job, run_live
from tests.oracle.test_windows import _micros, _Oracle, _plain
from tests.runtime.in_process import replay_here, store

_NUMBERS = (
    "{x}.a - {y}.a",
    "{x}.a * {y}.h + 1",
    "COALESCE({x}.a, {y}.a)",
    "ABS({x}.a - {y}.h)",
    "GREATEST({x}.a, {y}.a)",
    "{x}.b - {y}.a",
    "CASE WHEN {x}.a IS NULL THEN {y}.h ELSE {x}.a END",
)
_TIMES = ("TIMESTAMPDIFF(MICROSECOND, {x}.ts, {y}.ts)",)
_TEXTS = ("{x}.g || {y}.g", "CASE WHEN {x}.a > {y}.a THEN 'up' ELSE {y}.g END")
_CONDITIONS = (
    "ABS({x}.a - {y}.a) > 1",
    "({x}.a + {y}.h > 2 OR {x}.g = {y}.g)",
    "{x}.a * {y}.a <> 2",
    "{x}.a BETWEEN {y}.a - 1 AND {y}.a + {x}.h",
    "{x}.a + {y}.h BETWEEN {y}.a AND {x}.h",
    "{x}.g || {y}.g = 'xy'",
)
_CALLS = ("SUM({})", "MAX({})", "MIN({})", "COUNT({})", "COUNT(DISTINCT {})")


def make_query(random: Random) -> tuple[str, str, str]:
    """What we read, what DuckDB reads, and whether answers are `rows`, `groups` or `buckets`."""
    first, second = random.choice([("s", "t"), ("t", "s"), ("s", "s"), ("s", "r"), ("t", "t")])
    x, y = ("x", "y") if random.random() < 0.5 else ("y", "x")
    tables = f"{first} AS x, {second} AS y"
    streams = second != "r"
    conditions = []
    if streams:
        op = random.choice(["<", "<="])
        conditions += [f"x.ts {op} y.ts"] if random.random() < 0.8 else ["x.ts <= y.ts + {3}"]
        if random.random() < 0.7:
            conditions.append("y.ts <= x.ts + {3}")
    else:
        conditions.append("x.h = y.h")
    if random.random() < 0.4:
        conditions.append("x.h = y.h")
    beside = streams and random.random() < 0.3
    if not beside and random.random() < 0.5:
        conditions.append(random.choice(_CONDITIONS).format(x=x, y=y))
    kinds = [*_NUMBERS, *(_TIMES if streams else ())]
    kinds = [k for k in kinds if streams or ".b" not in k]
    numbers = [random.choice(kinds).format(x=x, y=y) for _ in range(2)]
    shown = random.sample([*numbers, random.choice(_TEXTS).format(x=x, y=y), "x.a", "y.g"], k=2)
    if beside:
        tie = random.choice(["m.h = x.h AND ", "m.a > y.a AND ", ""])
        part = f"SELECT 1 FROM {random.choice('st')} AS m WHERE {tie}m.ts > x.ts AND m.ts < y.ts"
        conditions += [f"NOT EXISTS ({part})", "x.ts <= y.ts"]
    where = " AND ".join(conditions)
    form = random.choice(["rows", "rows", "groups", "buckets"] if streams else ["rows", "groups"])
    if form == "rows":
        word = random.choice(["", "", "DISTINCT "])
        listed = ", ".join(f"{e} AS c{n}" for n, e in enumerate(shown))
        body = f"SELECT {word}{listed} FROM {tables} WHERE {where}"
    elif form == "groups":
        key = random.choice(["x.h", "y.g", shown[0]])
        call = random.choice(_CALLS).format(numbers[0])
        body = f"SELECT {key} AS c0, {call} AS c1 FROM {tables} WHERE {where} GROUP BY {key}"
    else:
        conditions = [c for c in conditions if "+ {3}" not in c or c.startswith("y")]
        where = " AND ".join(dict.fromkeys([*conditions, "x.ts <= y.ts"]))
        call = random.choice(_CALLS).format(numbers[0])
        key = "TUMBLE_START(y.ts, INTERVAL '2' MICROSECOND)"
        listed = f"{key} AS c0, x.h AS c1, {call} AS c2"
        body = f"SELECT {listed} FROM {tables} WHERE {where} GROUP BY {key}, x.h"
    ours = body.replace("{3}", "INTERVAL '3' MICROSECOND")
    duck = ours.replace("TIMESTAMPDIFF(MICROSECOND,", "date_sub('microsecond',")
    start = "make_timestamp(epoch_us(y.ts) // 2 * 2)"
    duck = duck.replace("TUMBLE_START(y.ts, INTERVAL '2' MICROSECOND)", start)
    return ours, duck, form


def check(seed: int) -> str:
    random = Random(seed)
    text, duck, form = make_query(random)
    data = make_data(random)
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG, disprove=False)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    assert verdict.bound is not None
    case, oracle = Case(CATALOG, union, data, MARKERS), _Oracle(data)
    used = {n for n in ("s", "t") if f" {n} AS" in text}
    last = max((row[-1] for n in used for row in data[n][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = replace(make_job(verdict, union, catalog))
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        assert verdict.bound.rows is None or summary.state_rows_max <= verdict.bound.rows
        live, done = run_live(case, verdict, random, Path(folder))
        for rows, until in ((whole, last), (live, done)):
            for marker in range(until + 1):
                wanted = oracle.answers(duck, marker)
                if form == "buckets":
                    wanted = Counter({r: n for r, n in wanted.items() if _is_over(r[0], marker)})
                found = _last_rows(rows, marker) if form == "groups" else _found(rows, marker)
                assert found == wanted, (text, marker, found, wanted)
    return f"{'stream of matches, ' if union.blocks else ''}{form} {verdict.tier}"


def _is_over(start: Any, marker: int) -> bool:
    return _micros(start) + 1 <= marker


def _found(rows: list[dict[str, Any]], marker: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in rows:
        if _micros(row["at"]) - ("c2" in row) <= marker:
            cells = tuple(_plain(c) for n, c in row.items() if n not in ("at", "multiplicity"))
            found[cells] += row.get("multiplicity", 1)
    return Counter({cells: n for cells, n in found.items() if None not in cells})


@budget(0.1)
@given(seed=SEEDS)
def test_expressions_of_several_rows_equal_duckdb(seed: int) -> None:
    event(check(seed))
