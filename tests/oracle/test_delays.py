"""Delays of rows without a window, in joins, under DISTINCT and in aggregates: replayed and live,
as DuckDB answers the same SQL at every time, with NOW() as that time."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import CHANGING, Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data
from tests.oracle.test_stacked_queries import make_job, run_live
from tests.oracle.test_windows import _DELAYS, _WINDOWS, _micros, _Oracle, _plain, standing
from tests.runtime.in_process import replay_here, store

_CALLS = ("COUNT(*)", "SUM({}.a)", "MAX({}.h)", "COUNT(DISTINCT {}.a)", "MIN({}.b)")


def make_query(random: Random) -> tuple[str, bool]:
    """A query with a delay of rows without a window; whether it aggregates."""
    tables = random.choice([["s"], ["s", "t"], ["s", "t"], ["s", "r"], ["t", "s"]])
    streams = [t for t in tables if t != "r"]
    late = streams[: random.choice([1, 1, 2])]
    conditions = [
        random.choice(_DELAYS[:2] if random.random() < 0.8 else _DELAYS).format(
            t=t, n=random.randint(1, 4), p=random.randint(2, 4)
        )
        for t in late
    ]
    if len(streams) == 2:
        if random.random() < 0.5:
            conditions.append(random.choice(("s.ts < t.ts", "s.ts <= t.ts", "s.ts = t.ts")))
        if random.random() < 0.5:
            conditions.append("t.ts <= s.ts + INTERVAL '3' MICROSECOND")
            conditions.append("s.ts <= t.ts + INTERVAL '2' MICROSECOND")
        if random.random() < 0.7:
            conditions.append(random.choice(("s.h = t.h", "s.g = t.g", "s.a <> t.a")))
        if len(late) == 1 and random.random() < 0.3:
            other = next(t for t in streams if t not in late)
            conditions.append(random.choice(_WINDOWS).format(t=other, n=random.randint(1, 4)))
    if "r" in tables:
        conditions.append("s.h = r.h")
    if random.random() < 0.3:
        conditions.append(f"{random.choice(streams)}.a > {random.randint(-2, 1)}")
    where = " AND ".join(conditions)
    kinds = random.choice([["h"], ["g"], ["h", "ts"], ["a", "ts"], ["g", "a"]])
    shown = [f"{random.choice(streams)}.{c}" for c in kinds]
    columns = [f"{c} AS c{n}" for n, c in enumerate(shown)]
    source = f"FROM {', '.join(tables)} WHERE {where}"
    if random.random() < 0.35:
        shown = [c for c in shown if not c.endswith(".ts")]  # whose groups are final, and told once
        columns = columns[: len(shown)]
        call = random.choice(_CALLS).format(random.choice(streams))
        grouped = f"SELECT {', '.join(columns)}, {call} AS x {source}"
        return f"{grouped} GROUP BY {', '.join(dict.fromkeys(shown))}", True
    word = "DISTINCT " if random.random() < 0.5 else ""
    return f"SELECT {word}{', '.join(columns)} {source}", False


def check(seed: int) -> str:
    random = Random(seed)
    text, grouped = make_query(random)
    data = make_data(random)
    try:
        union = parse_sql(text, CATALOG, name="q", file="q.sql")
    except QueryError as error:
        if "delay on a grid" not in error.what and "part of the UNION" not in error.what:
            raise
        return "refused"
    verdict = check_query(union, CATALOG, disprove=False)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    emit = choose_emit(union)
    case, oracle = Case(CATALOG, union, data, MARKERS), _Oracle(data)
    used = {n for n in ("s", "t") if f" {n}." in text}
    last = max((row[-1] for n in used for row in data[n][1]), default=-1)
    bound = bound_changes(verdict, CATALOG) if emit in CHANGING else verdict.bound
    assert bound is not None
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = replace(make_job(verdict, union, catalog), emit=emit)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        assert bound.rows is None or summary.state_rows_max <= bound.rows
        told = [(whole, last)]
        if emit is Emit.ANSWERS:
            told.append(run_live(case, verdict, random, Path(folder)))
        for rows, until in told:
            for marker in range(until + 1):
                wanted = oracle.answers(text, marker)
                if grouped and "op" not in (rows[0] if rows else {}):
                    found = _last_rows(rows, marker)
                else:
                    held = standing(rows, marker)
                    found = Counter({r: n for r, n in held.items() if None not in r})
                assert found == wanted, (text, marker, found, wanted)
    late = "late " if union.blocks else ""
    return f"{late}{'groups ' if grouped else ''}{verdict.tier}"


def _last_rows(rows: list[dict[str, Any]], marker: int) -> Counter[Any]:
    """The last row of each group, without those that have no value."""
    groups: dict[Any, Any] = {}
    for row in rows:
        if _micros(row["at"]) <= marker:
            cells = tuple(_plain(c) for n, c in row.items() if n != "at")
            groups[cells[:-1]] = cells
    return Counter(cells for cells in groups.values() if None not in cells)


@budget(0.2)
@given(seed=SEEDS)
def test_late_rows_equal_duckdb_at_every_time(seed: int) -> None:
    event(check(seed))
