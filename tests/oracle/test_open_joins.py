"""Joins by values that a rule closes, replayed and live, against their definition row by row: on
streams that keep the rule, and on streams that break it."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.budget import SEEDS, budget
from tests.oracle.closing_cases import MARKERS, keeps_rule
from tests.oracle.open_cases import OpenCase, make_open_case
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import run_live
from tests.runtime.in_process import EPOCH, replay_here, store


def _show(case: OpenCase, rows: list[dict[str, Any]], upto: int) -> Counter[tuple[Any, ...]]:
    """The answers told up to a time; of groups, the last row of each."""
    told = [(row, (row["at"] - EPOCH).microseconds) for row in rows]
    told = [(row, at) for row, at in told if at <= upto]
    if case.grouped:
        name = case.shown[0][1]
        last = {row[name]: (row[name], row["n"], row["s"]) for row, _ in told}
        return Counter(last.values())
    found: Counter[tuple[Any, ...]] = Counter()
    for row, at in told:
        values = tuple(row[f"x{n}"] for n in range(len(case.shown)))
        found[(*values, at)] += row.get("multiplicity", 1)
    return found


def compare(random: Random, case: OpenCase) -> str:
    """Assert that a case's query, if it is bounded, is answered as its definition says, live at
    every finished timestamp, and that its state keeps its bound. Returns what was compared."""
    catalog = case.base.catalog
    union = parse_sql(case.sql, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    if verdict.plans is None:
        return str(verdict.tier)
    opened = any(plan.form.open for plan in verdict.plans)
    kept = keeps_rule(case.base)
    if not opened:
        return "bounded without"
    keyed = (case.grouped or case.distinct) and "k" in {name for _, name in case.shown}
    if keyed and not kept:  # a group, or an answer, begins anew when its value was closed
        return "groups that begin anew"
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    assert any(d.kind == "closing" for d in verdict.conditions)
    types = {"page.k": "VARCHAR", "page.last": "BOOLEAN"}
    whole = Case(catalog, union, case.base.data, MARKERS, types)
    read = [*case.base.page, *(() if case.buys is None else case.base.buy)]
    end = max((row[-1] for row in read), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        live, done = run_live(whole, verdict, random, Path(folder))
        for marker in range(done + 1):
            assert _show(case, live, marker) == case.answers(marker), (case.sql, marker)
        stored, statics = store(whole, random, Path(folder))
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        # of rows that break a rule by `ends`, more may be open
        bound = verdict.bound.rows if kept else None
        job = QueryJob("q", union, verdict.plans, stored, bound, verdict.declarations, parts)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1, "ranges": 3}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        rows, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options)
    assert _show(case, rows, end) == case.answers(end), case.sql
    return f"compared, keeps the rule: {kept}" + ", final groups" * keyed


@given(SEEDS)
@budget(0.2)
def test_rows_are_joined_while_their_values_are_open(seed: int) -> None:
    random = Random(seed)
    event(compare(random, make_open_case(random)))
