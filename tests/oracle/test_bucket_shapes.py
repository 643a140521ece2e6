"""Aggregates by buckets of time in many shapes: each group once, when it is final, replayed in
ranges and live."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from tests.oracle.bucket_cases import BucketCase, make_case
from tests.oracle.budget import SEEDS, budget
from tests.oracle.evaluate_buckets import canon, find_groups, micros
from tests.oracle.random_queries import Case
from tests.oracle.run_kernel import few_touched
from tests.runtime.in_process import replay_here, store
from tests.runtime.live_cases import cut_arrivals, make_job, make_table

Answers = Counter[tuple[Any, int]]


def check(seed: int) -> str:
    random = Random(seed)
    case = make_case(random)
    union = parse_sql(case.sql, case.catalog, name="q", file="q.sql")
    verdict = check_query(union, case.catalog)
    if verdict.tier is Tier.UNSATISFIABLE:
        return "unsatisfiable"
    if verdict.plans is None:
        assert not case.near, case.sql
        return "not bounded"
    assert case.closes, case.sql
    assert verdict.bound is not None
    over = last_step(case, verdict)
    groups = find_groups(case)
    expected = answers_until(groups, over)
    plain = Case(case.catalog, union, case.data, 0)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(plain, random, Path(folder))
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        job = QueryJob(
            "q", union, verdict.plans, catalog, verdict.bound.rows, verdict.declarations, parts
        )
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        assert read(whole) == expected, case.sql
        assert whole == sorted(whole, key=lambda row: row["at"])
        ranges = random.choice([2, 3, 5, 8])
        rows, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options, ranges=ranges)
        assert list(map(canon, rows)) == list(map(canon, whole)), case.sql
        check_live(plain, case, verdict, random, Path(folder), groups)
    return "answered" if expected else "no answer"


def last_step(case: BucketCase, verdict: Verdict) -> int | None:
    """When the history is over: a step after its last row."""
    read = {t for _, t in case.members}
    times = [row[-1] for name in "st" if name in read for row in case.data[name][1]]
    return max(times) + case.step if times else None


def answers_until(groups: list[tuple[dict[str, Any], int]], over: int | None) -> Answers:
    return Counter((canon(row), at) for row, at in groups if over is not None and at <= over)


def read(rows: list[dict[str, Any]]) -> Answers:
    return Counter(
        (canon({k: v for k, v in row.items() if k != "at"}), micros(row["at"])) for row in rows
    )


def check_live(
    plain: Case,
    case: BucketCase,
    verdict: Verdict,
    random: Random,
    folder: Path,
    groups: list[tuple[dict[str, Any], int]],
) -> None:
    """After every micro-batch, from a checkpoint: what is final, and nothing else."""
    job = make_job(plain, verdict)
    state = begin_live(job)
    streams = {h.stream.name for h in job.histories}
    batches = cut_arrivals(plain, random, streams)
    if random.random() < 0.5:  # time by time
        times = sorted({row[-1] for name in streams for row in plain.data[name][1]})
        batches = [
            {
                name: make_table(plain, name, [r for r in plain.data[name][1] if r[-1] == time])
                for name in sorted(streams)
            }
            for time in times
        ]
    told: Answers = Counter()
    with few_touched():
        for number, batch in enumerate(batches):
            outcome = advance_live(job, state, batch, 0.0)
            place = commit_batch(folder, "fingerprint", CommitRecord("run"), outcome)
            known = load_state(place, "fingerprint", job)[0]
            state = known if number % 2 else outcome.state
            told += read(outcome.answers[0].to_pylist())
            now = state.finished_us
            over = None if now is None else (now // case.step + 1) * case.step
            assert told == answers_until(groups, over), case.sql


@budget(0.3)
@given(seed=SEEDS)
def test_buckets_of_many_shapes(seed: int) -> None:
    event(check(seed))
