"""Rows that break rules are rejected, or counted, as an evaluation timestamp by timestamp does;
replayed in chunks of any size, and live, with the state read back."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, Lag
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from ontoweir.runtime.live.model.live_job import Reject
from tests.oracle.breach_cases import (
    Admission,
    RuledCase,
    admit_by_rules,
    make_breach,
    make_ruled_case,
)
from tests.oracle.budget import SEEDS, budget
from tests.oracle.closing_cases import MARKERS, evaluate
from tests.oracle.random_queries import Case
from tests.oracle.test_closing_rules import _show
from tests.runtime.in_process import EPOCH, replay_here, store
from tests.runtime.live_cases import cut_arrivals, make_job


def _catalog(ruled: RuledCase) -> Catalog:
    base = ruled.case.catalog
    page = replace(
        base.streams["page"], closing=ruled.closing, lags=tuple(ruled.lags.get("page", ()))
    )
    buy = replace(base.streams["buy"], lags=tuple(ruled.lags.get("buy", ())))
    return replace(base, streams={"page": page, "buy": buy})


def _expect(ruled: RuledCase, admission: Admission, upto: int) -> Counter[Any]:
    """The answers over the rows that were let in; a lag is a condition, too."""
    kept = admission.kept
    case = replace(ruled.case, page=tuple(kept["page"]), buy=tuple(kept["buy"]))
    for name, what in (("buy", "wait"), ("page", "before")):
        for lag in ruled.lags.get(name, ()):
            if lag.behind != name and case.wait is not None:
                case = replace(case, **{what: min(getattr(case, what), lag.within_us)})
    return Counter(evaluate(case, upto))


def compare(random: Random, ruled: RuledCase) -> None:
    catalog, case = _catalog(ruled), ruled.case
    union = parse_sql(case.sql, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog, disprove=False)
    if verdict.plans is None or verdict.bound is None or not verdict.closes_values:
        event("not closed by a rule")
        return
    event("rejects" if any(r.breach and r.breach.reject for _, r in ruled.rules) else "counts")
    whole = Case(catalog, union, case.data, MARKERS, {"page.k": "VARCHAR", "page.last": "BOOLEAN"})
    read = [*case.page, *(() if case.wait is None else case.buy)]
    end = max((row[-1] for row in read), default=-1)
    told = admit_by_rules(ruled, whole=True, upto=end)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(whole, random, Path(folder))
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        job = QueryJob(
            "q", union, verdict.plans, stored, verdict.bound.rows, verdict.declarations, parts
        )
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1, "ranges": 3}
        options |= {"rows_per_chunk": random.choice([1, 2, 5, 100]), "most_rejected": True}
        rows, summary = replay_here(patch, job, Path(folder, "n.parquet"), **options)
        assert Counter(_show(case, rows)) == _expect(ruled, told, end), case.sql
        assert summary.rejected_total == len(told.rejected)
        assert sum(summary.broken.values()) == sum(told.broken.values())
        _compare_live(random, ruled, whole, verdict, Path(folder))


def _compare_live(
    random: Random, ruled: RuledCase, whole: Case, verdict: Any, folder: Path
) -> None:
    job = make_job(whole, verdict)
    state = begin_live(job)
    rows: list[dict[str, Any]] = []
    rejected: list[Reject] = []
    streams = {h.stream.name for h in job.histories}
    for number, batch in enumerate(cut_arrivals(whole, random, streams)):
        outcome = advance_live(job, state, batch, 0.0)
        place = commit_batch(folder, "fingerprint", CommitRecord("run"), outcome)
        known = load_state(place, "fingerprint", job)[0]
        state = known if number % 2 else outcome.state
        rows += outcome.answers[0].to_pylist()
        rejected += outcome.rejects
    done = -1 if state.finished_us is None else state.finished_us
    told = admit_by_rules(ruled, whole=False, upto=done)
    assert Counter(_show(ruled.case, rows)) == _expect(ruled, told, done), ruled.case.sql
    places = Counter((name, row[-1]) for name, row, _ in told.rejected)
    assert Counter((r.stream, r.at_us) for r in rejected) == places
    (query,) = state.queries
    assert isinstance(query, ExecutionState)
    assert sum(rule.broken for rule in query.rules) == sum(told.broken.values())


@given(SEEDS)
@budget(0.3)
def test_rows_that_break_rules_are_rejected_or_counted(seed: int) -> None:
    random = Random(seed)
    compare(random, make_ruled_case(random))


def compare_joins(random: Random) -> None:
    """A join that only a lag bounds, over rows of which those that break it are rejected."""
    ruled = make_ruled_case(random)
    lag = Lag("page", ("k",), ("k",), random.choice([0, 2]), breach=make_breach(random))
    more = ruled.lags.get("page", ()) if random.random() < 0.5 else ()
    case = replace(ruled.case, wait=lag.within_us, before=0)
    ruled = replace(ruled, case=case, lags={"buy": (lag,), "page": more})
    catalog = _catalog(ruled)
    sql = "SELECT p.k, p.cost, b.kind FROM page p, buy b WHERE b.k = p.k AND p.ts <= b.ts"
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog, disprove=False)
    assert verdict.plans is not None
    assert verdict.bound is not None
    whole = Case(catalog, union, case.data, MARKERS, {"page.k": "VARCHAR", "page.last": "BOOLEAN"})
    end = max((row[-1] for row in (*case.page, *case.buy)), default=-1)
    told = admit_by_rules(ruled, whole=True, upto=end)
    expected = Counter(
        (p[0], p[2], b[1], b[2])
        for p in told.kept["page"]
        for b in told.kept["buy"]
        if p[0] == b[0] and p[0] is not None and p[4] <= b[2] <= p[4] + lag.within_us
    )
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(whole, random, Path(folder))
        job = QueryJob("q", union, verdict.plans, stored, verdict.bound.rows, verdict.declarations)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1, "ranges": 3}
        options |= {"rows_per_chunk": random.choice([1, 2, 5, 100]), "most_rejected": True}
        rows, summary = replay_here(patch, job, Path(folder, "n.parquet"), **options)
        shown = [(r["k"], r["cost"], r["kind"], (r["at"] - EPOCH).microseconds) for r in rows]
        times = [row.get("multiplicity", 1) for row in rows]
        found: Counter[Any] = Counter()
        for row, count in zip(shown, times, strict=True):
            found[row] += count
        assert found == expected, sql
        assert summary.rejected_total == len(told.rejected)
        assert sum(summary.broken.values()) == sum(told.broken.values())
        assert summary.ranges == 1


@given(SEEDS)
@budget(0.15)
def test_joins_have_the_rows_that_keep_their_lags(seed: int) -> None:
    compare_joins(Random(seed))
