"""Queries that are not bounded run too, if someone insists: the same answers, in growing memory."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.decide.plan_unbounded import plan_unbounded
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from tests.oracle.random_queries import STYLES, Case, make_case
from tests.oracle.relational import answers, load
from tests.oracle.test_aggregates_against_oracle import expect, make_aggregates
from tests.runtime.in_process import answers_upto, replay_here, store
from tests.runtime.live_cases import cut_arrivals, make_table

CASES = 220


def _job(case: Case, union: SpjUnion) -> LiveJob:
    found = plan_unbounded(union, case.catalog)
    job = QueryJob("q", union, found.plans, case.catalog, None, parts=found.parts)
    statics = {n: make_table(case, n, case.data[n][1]) for n in case.catalog.relations}
    return make_live_job([job], case.catalog, statics, {})


def _run(job: LiveJob, case: Case, random: Random) -> tuple[list[dict[str, Any]], LiveState]:
    state, rows = begin_live(job), []
    for batch in cut_arrivals(case, random, {h.stream.name for h in job.histories}):
        outcome = advance_live(job, state, batch, 0.0)
        state = outcome.state
        rows += outcome.answers[0].to_pylist()
    return rows, state


def _micros(value: datetime) -> int:
    return round((value - datetime(1970, 1, 1)).total_seconds() * 1e6)


def _make_case(random: Random) -> Case:
    """Without rows that a run rejects, because they have NaN where the query may use it."""
    case = make_case(random, style=random.choice(sorted(STYLES)))
    data = {
        name: (columns, [row for row in rows if all(cell == cell for cell in row)])
        for name, (columns, rows) in case.data.items()
    }
    return replace(case, data=data)


def _is_bounded(case: Case, union: SpjUnion) -> bool:
    return check_query(union, case.catalog, disprove=False).plans is not None


@pytest.mark.parametrize("seed", range(CASES))
def test_answers_equal_the_oracle(seed: int) -> None:
    random = Random(seed)
    case = _make_case(random)
    if _is_bounded(case, case.query):
        return
    job = _job(case, case.query)
    if not job.queries[0].plans:
        return
    rows, state = _run(job, case, random)
    done = -1 if state.finished_us is None else state.finished_us
    base = load(case.data, case.types)
    stamps = {name: s.timestamp for name, s in case.catalog.streams.items()}
    query, distinct = case.query.disjuncts[0], case.query.distinct
    expected = answers(base, query, stamps, distinct=distinct, markers=done + 1)
    for marker, right in enumerate(expected):
        assert answers_upto(rows, case.query.variables, marker) == right


@pytest.mark.parametrize("seed", range(80))
def test_aggregates_equal_the_oracle(seed: int) -> None:
    random = Random(seed)
    case = _make_case(random)
    union = make_aggregates(random, case)
    if _is_bounded(case, union):
        return
    job = _job(case, union)
    if not job.queries[0].plans:
        return
    rows, state = _run(job, case, random)
    done = -1 if state.finished_us is None else state.finished_us
    assert union.aggregation is not None
    wanted = expect(case, union)
    groups = union.aggregation.group
    names = [a.name for a in union.aggregation.aggregates]
    latest: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    ordered = sorted(rows, key=lambda r: _micros(r["at"]))
    for marker in range(done + 1):
        for row in ordered:
            if _micros(row["at"]) == marker:
                latest[tuple(row[g] for g in groups)] = tuple(row[n] for n in names)
        assert latest == wanted[marker]


@pytest.mark.parametrize("seed", range(40))
def test_aggregates_are_replayed_in_one_range(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    case = _make_case(random)
    union = make_aggregates(random, case)
    found = plan_unbounded(union, case.catalog)
    if _is_bounded(case, union) or not found.plans:
        return
    catalog, statics = store(case, random, tmp_path)
    job = QueryJob("q", union, found.plans, catalog, None, parts=found.parts, unbounded=True)
    output = tmp_path / "out.parquet"
    rows, summary = replay_here(
        monkeypatch, job, output, statics=statics, ranges=3, rows_per_range=1, rows_per_chunk=4
    )
    assert summary.ranges == 1
    assert "not bounded" in (summary.one_range_because or "")
    assert union.aggregation is not None
    names = [a.name for a in union.aggregation.aggregates]
    latest: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in rows:
        latest[tuple(row[g] for g in union.aggregation.group)] = tuple(row[n] for n in names)
    assert latest == expect(case, union)[-1]


def test_enough_of_the_cases_are_not_bounded() -> None:
    found = 0
    for seed in range(CASES):
        random = Random(seed)
        case = _make_case(random)
        found += not _is_bounded(case, case.query)
    assert found > 40
