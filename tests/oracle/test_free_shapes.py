"""Queries of any shape (free_shapes.py), each in the output that fits it, replayed in one range and
in several, and live, as DuckDB answers the same text from scratch at every time.

What is told as changes holds as DuckDB has it. What is told as answers is never taken back: it is
among DuckDB's answers at that and all later times, and is all of them long after the last row. No
run keeps more than the bound."""

from collections import Counter
from collections.abc import Mapping
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
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import CHANGING, Emit, choose_emit
from ontoweir.runtime.statics.evaluate_view import evaluate_view
from tests.oracle.budget import SEEDS, budget
from tests.oracle.free_shapes import FreeShapes
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_latest import fold
from tests.oracle.test_sql_nulls import CATALOG, make_data, upto
from tests.oracle.test_stacked_queries import Stacked, _plain, make_job
from tests.oracle.test_windows_beside import At, run_live
from tests.runtime.in_process import replay_here, store

FAR = 60
"""A time when all deadlines are over, at which the last rows come."""
TIMES = (*range(16), FAR - 1)
_FILL = {"a": 0, "b": 1, "g": "y", "h": 1}
NULLABLE = replace(
    CATALOG,
    streams={
        n: replace(s, columns=tuple(replace(c, nullable=True) for c in s.columns))
        for n, s in CATALOG.streams.items()
    },
    relations={
        n: replace(r, keys=(), columns=tuple(replace(c, nullable=True) for c in r.columns))
        for n, r in CATALOG.relations.items()
    },
)


def draw_data(random: Random) -> tuple[Catalog, Tables]:
    """Tables with NULL, as declared, or without; at times with keys, and a last row far away."""
    data, catalog = make_data(random), NULLABLE
    if random.random() < 0.6:
        catalog = CATALOG
        for name, (columns, rows) in data.items():
            made = [
                tuple(_FILL.get(c) if v is None else v for c, v in zip(columns, row, strict=True))
                for row in rows
            ]
            data[name] = columns, made
    if random.random() < 0.3:
        keyed = {n: replace(s, keys=(("h", "ts"),)) for n, s in catalog.streams.items()}
        catalog = replace(catalog, streams=keyed)
        for name in "st":
            columns, rows = data[name]
            first = {(r[columns.index("h")], r[-1]): r for r in reversed(rows)}
            kept = [r for r in first.values() if r[columns.index("h")] is not None]
            data[name] = columns, sorted(kept, key=lambda row: row[-1])
    last = {"a": 0, "b": 0, "g": "x", "h": 0, "ts": FAR}
    for name in "st":
        columns, rows = data[name]
        data[name] = columns, [*rows, tuple(last.get(c) for c in columns)]
    return catalog, data


def check(seed: int, *, latest: bool = False) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    query = FreeShapes(random, latest=latest).draw()
    return compare(random, query, draw_data(random))


def compare(
    random: Random, query: tuple[str, tuple[str, ...]], over: tuple[Catalog, Tables]
) -> str:
    """Assert that a query, of which the names of columns are given, tells what DuckDB answers
    `over` rows: what came of it."""
    (text, names), (catalog, data) = query, over
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError:
        return "refused"
    verdict, read = check_query(union, catalog), tables_of(union) & {"s", "t"}
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE or not read:
        return str(verdict.tier)
    chosen = choose_emit(union)
    final = chosen is Emit.ANSWERS and union.aggregation is None
    emit = chosen if final else Emit.CHANGES
    bound = (bound_changes(verdict, catalog) if emit in CHANGING else verdict.bound) or None
    assert bound is not None
    case = Case(catalog, union, data, FAR + 1)
    asked, oracle = Stacked(text, text, names), At(case)
    expected = {
        m: Counter(tuple(map(_plain, row)) for row in oracle.holding(asked, m).elements())
        for m in TIMES
    }
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        for made in union.statics:  # those that the query makes
            rows = evaluate_view(made, made.data.view or "", catalog, statics.__getitem__)
            if rows is None:
                return "a view that Spark evaluates"
            statics[made.name] = rows
        job = replace(make_job(verdict, union, stored), emit=emit, bound=bound.rows)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        assert bound.rows is None or summary.state_rows_max <= bound.rows, text
        ranges = random.randint(2, 4)
        again, _ = replay_here(patch, job, Path(folder, "2.parquet"), **options, ranges=ranges)
        assert again == whole, text
        ours = replace(job, catalog=catalog)
        live, done = run_live(ours, case, random, Path(folder), statics)
    first = min(row[-1] for name in read for row in data[name][1])
    # a row over nothing is there from the first row on of streams that are read: not of one that
    # conditions which cannot hold leave out
    begun = max(data[name][1][0][-1] for name in read)
    groups = union.standing.groups if union.standing is not None else union.aggregation
    alone = groups is not None and not groups.told.group
    for rows, top in ((whole, FAR - 1), (live, done)):
        told = {m: fold(upto(rows, m), names) for m in TIMES if first <= m <= top}
        told = {m: f for m, f in told.items() if f or m >= begun or not alone}
        waits = bool(union.blocks) and union.aggregation is not None and not union.ends
        _compare(told, expected, text, final=final, waits=waits)
    return f"{verdict.tier}, {emit}, answers: {bool(whole)}"


def _compare(
    told: Mapping[int, Counter[Any]],
    expected: Mapping[int, Counter[Any]],
    text: str,
    *,
    final: bool,
    waits: bool,
) -> None:
    """Assert that what is told until each time is right; `waits`: of groups of final answers."""
    for time, found in told.items():
        if final:
            assert all(found <= expected[later] for later in TIMES if later >= time), (text, time)
        if time == FAR - 1 or not (final or waits):
            assert found == expected[time], (text, time, found, expected[time])


@budget(0.25)
@given(seed=SEEDS)
def test_queries_of_any_shape_equal_duckdb(seed: int) -> None:
    event(check(seed))


@budget(0.25)
@given(seed=SEEDS)
def test_latest_rows_beside_what_is_there_or_not_equal_duckdb(seed: int) -> None:
    event(check(seed, latest=True))
