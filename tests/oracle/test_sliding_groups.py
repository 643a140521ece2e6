"""Aggregates over sliding windows: their changes, replayed in one range and in several, and live
with a commit at each step, lead to what DuckDB answers at every time, with NOW() as that time."""

import re
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.find_pattern import UpdatePattern, find_pattern
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import (
    CATALOG,
    MARKERS,
    Oracle,
    Query,
    make_data,
    make_query,
    run_live,
    same,
    split_groups,
)
from tests.oracle.test_windows import _DELAYS, _STEPS, _WINDOWS, _micros, _plain
from tests.runtime.in_process import replay_here, store


def add_windows(random: Random, query: Query) -> Query:
    """The query over windows of some of its streams."""
    tables = query.rest.split(" WHERE ")[0].split(", ")
    streams = [t for t in tables if t != "r"]
    chosen = random.sample(streams, k=random.randint(1, len(streams)))
    texts = _WINDOWS if random.random() < 0.6 else (*_WINDOWS, *_STEPS)
    more = chosen[:1] if random.random() < 0.2 else []  # the shorter one counts
    windows = [
        random.choice(texts).format(t=t, n=random.randint(1, 5), p=random.randint(2, 5))
        for t in [*chosen, *more]
    ]
    late = chosen if random.random() < 0.25 else []
    windows += [
        random.choice(_DELAYS).format(t=t, n=random.randint(1, 3), p=random.randint(2, 4))
        for t in late[: random.randint(0, 2)]
    ]
    joined = " AND " if " WHERE " in query.rest else " WHERE "
    return replace(query, rest=query.rest + joined + " AND ".join(windows))


def add_row(random: Random, query: Query) -> Query:
    """The query, now and then with HAVING, with expressions over aggregates, or by times."""
    n = random.randint(0, 3)
    if random.random() < 0.3:
        conditions = (
            f"COUNT(*) > {n}",
            f"COUNT(*) = {n}",
            f"MIN(s.a) < {n}" if "s" in query.rest else f"COUNT(*) < {n}",
            f"COUNT(*) < {n} OR MAX(s.h) = 1",
            f"SUM(s.a) IS NULL OR SUM(s.a) <= {n}",
        )
        query = replace(query, having=random.choice(conditions))
    columns, group = query.columns, query.group
    if random.random() < 0.2:
        columns += (("x_more", f"COUNT(*) * 2 - {n}", f"COUNT(*) * 2 - {n}"),)
    if random.random() < 0.2:
        columns, group = (*columns, ("g_time", "s.ts", "s.ts")), (*group, "s.ts")
    return replace(query, columns=columns, group=group)


def lead_to(query: Query, rows: list[dict[str, Any]], now: int) -> dict[Any, Any]:
    """The groups that changes up to a time lead to: a row ends before the next one begins, and
    each change says something new."""
    held: dict[Any, Any] = {}
    ended: dict[Any, Any] = {}
    last = None
    for row in rows:
        if _micros(row["at"]) > now:
            continue
        if row["at"] != last:
            last, ended = row["at"], {}
        plain = {name: _plain(cell) for name, cell in row.items()}
        ((group, values),) = split_groups(query, [plain]).items()
        if row["op"] == "-":
            assert held.pop(group) == values
            ended[group] = values
        else:
            assert group not in held
            assert group not in ended or ended[group] != values
            held[group] = values
    return held


def check_snapshots(
    query: Query, rows: list[dict[str, Any]], changes: list[dict[str, Any]]
) -> None:
    """Assert that after each time of a change, and only then, all groups that hold are told."""
    times = sorted({row["at"] for row in changes})
    assert {row["at"] for row in rows} <= set(times)
    for time in times:
        told = [{n: _plain(c) for n, c in row.items()} for row in rows if row["at"] == time]
        groups = split_groups(query, told)
        assert len(groups) == len(told)
        assert groups == lead_to(query, changes, _micros(time))


def expect(oracle: Oracle, query: Query, now: int, first: int) -> dict[Any, Any]:
    """What DuckDB answers at a time; without GROUP BY, from the first timestamp on, one row also
    over nothing."""
    moment = f"make_timestamp({now})"
    asked = replace(query, rest=query.rest.replace("NOW()", moment))
    found = oracle.groups(asked, asked.text(2), now)
    if query.group or now < first:
        return found
    names = [c[0] for c in query.columns]
    rows = oracle.base.execute(asked.text(2)).fetchall()
    return split_groups(query, [dict(zip(names, row, strict=True)) for row in rows])


def check(seed: int) -> str:
    random = Random(seed)
    return str(compare(random, add_row(random, add_windows(random, make_query(random)))))


def check_without_groups(seed: int) -> str:
    """One random query without GROUP BY and without windows."""
    random = Random(seed)
    query = make_query(random)
    shown = tuple(c for c in query.columns if c[0].startswith("x"))
    return str(compare(random, replace(query, columns=shown, group=()), windows=False))


def compare(random: Random, query: Query, *, windows: bool = True) -> Tier:
    """Assert that an aggregate over windows, if it is bounded, is answered as DuckDB does; so are
    the changes of one without windows."""
    text, data = query.text(1), make_data(random)
    try:
        union = parse_sql(text, CATALOG, name="q", file="q.sql")
    except QueryError as error:
        if "shows nothing" not in error.what:
            raise
        return Tier.UNSATISFIABLE
    verdict = check_query(union, CATALOG)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE or windows != bool(union.ends):
        return verdict.tier
    assert choose_emit(union) is (Emit.CHANGES if windows else Emit.ANSWERS)
    assert find_pattern(union, extend_catalog(CATALOG, union)) is UpdatePattern.STR
    bound = bound_changes(verdict, CATALOG)
    assert not windows or bound == verdict.bound
    case = Case(CATALOG, union, data, MARKERS)
    oracle = Oracle(case)
    read = {o.table for q in union.disjuncts for o in q.occurrences} & {"s", "t"}
    times = [row[-1] for name in read for row in data[name][1]]
    last, first = max(times, default=-1), min(times, default=0)
    expected = [expect(oracle, query, m, first) for m in range(last + 1)]
    exact = not re.search("MEDIAN|PERCENTILE|_CONT", text)  # DuckDB rounds those of decimals
    if exact and expected and query.group:
        printed = print_sql(union, CATALOG, dialect="duckdb", comments=False)
        printed = printed.replace("NOW()", f"make_timestamp({last})")
        asked = replace(query, rest=query.rest.replace("NOW()", f"make_timestamp({last})"))
        assert same(oracle.groups(asked, printed, last), expected[-1]), printed
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        job = QueryJob(
            "q",
            union,
            verdict.plans,
            catalog,
            bound.rows,
            verdict.declarations,
            parts,
            emit=Emit.CHANGES,
        )
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        assert bound.rows is None or summary.state_rows_max <= bound.rows
        for marker in range(last + 1):
            assert same(lead_to(query, whole, marker), expected[marker]), (text, marker)
        ranges = random.choice([2, 3, 5])
        rows, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options, ranges=ranges)
        assert rows == whole, text
        if not windows:
            plain = replace(job, emit=Emit.ANSWERS)
            for n in (1, ranges):
                options["ranges"] = n
                told, _ = replay_here(patch, plain, Path(folder, "f"), **options, final=True)
                assert same(split_groups(query, told), expected[-1] if expected else {}), text
        snapshots = replace(job, emit=Emit.SNAPSHOTS)
        shown, _ = replay_here(patch, snapshots, Path(folder, "s.parquet"), **options)
        check_snapshots(query, shown, whole)
        live, done = run_live(case, verdict, random, Path(folder), Emit.CHANGES)
        assert live == [row for row in whole if _micros(row["at"]) <= done], text
    return verdict.tier


@budget(0.2)
@given(seed=SEEDS)
def test_sliding_groups_equal_duckdb_at_every_time(seed: int) -> None:
    event(check(seed))


@budget(0.2)
@given(seed=SEEDS)
def test_changes_of_one_row_equal_duckdb_from_the_first_time_on(seed: int) -> None:
    event(check_without_groups(seed))
