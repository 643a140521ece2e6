"""A live run that waits as long as rows show: at least a floor, at most the declared lateness."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from ontoweir.runtime.live.measure_batch import measure_batch
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState, Reject
from tests.oracle.random_queries import Case
from tests.runtime.live_cases import make_job, make_table

STREAM = Stream(
    "s",
    DataSource("parquet", "none"),
    "ts",
    1,
    5,
    (Column("k", IntType(), 0, 3),),
    lateness_us=40,
    floor_us=3,
    window_us=60,
)
SQL = "SELECT x.k, y.k AS l FROM s x, s y WHERE x.ts = y.ts"


def _job(stream: Stream) -> tuple[Case, LiveJob]:
    catalog = Catalog({"s": stream})
    union = parse_sql(SQL, catalog, name="q", file="q.sql")
    case = Case(catalog, union, {"s": (["k", "ts"], [])}, 0)
    return case, make_job(case, check_query(union, catalog, disprove=False))


def _take(
    case: Case, job: LiveJob, state: LiveState, rows: list[tuple[int, int]]
) -> tuple[LiveState, list[dict[str, Any]], list[Reject]]:
    batch: dict[str, pa.Table] = {"s": make_table(case, "s", rows)}
    outcome = advance_live(job, state, batch, 0.0)
    return outcome.state, outcome.answers[0].to_pylist(), list(outcome.rejects)


def _in_order(start: int, stop: int, late: int) -> list[tuple[int, int]]:
    """A row a step, every fifth of which comes so much later."""
    at = [(t + (late if t % 5 == 0 else 0), t) for t in range(start, stop)]
    return [(t % 4, t) for _, t in sorted(at)]


def test_what_is_used_follows_what_is_seen() -> None:
    case, job = _job(STREAM)
    state = begin_live(job)
    used = []
    rows = _in_order(0, 400, 6)
    for start in range(0, 400, 10):
        before = state
        state, _, rejects = _take(case, job, state, rows[start : start + 10])
        assert not rejects
        used.append(state.lateness_of(STREAM))
        shown = measure_batch(job, before, state, 0.1, 0.0)
        (limit,) = (m for m in shown["limits"] if m["rule"] == "lateness")
        assert limit["in_use"] == used[-1] / 1e6
        assert limit["observed"] <= 6 / 1e6
    assert used[:5] == [40] * 5  # no window is over yet
    assert used[-20:] == [5] * 20  # rows come after those of four steps later, and a fifth more
    assert state.finished_us == max(t for _, t in rows) - 5 - 1
    # one that comes later than that is lost, and counted; then it is waited longer at once
    top = max(t for _, t in rows)
    state, _, rejects = _take(case, job, state, [(0, top - 20), (0, top - 19)])
    assert [r.at_us for r in rejects] == [top - 20, top - 19]
    assert state.lateness_of(STREAM) == 24
    state, _, rejects = _take(case, job, state, [(0, top + 30), (1, top + 11)])
    assert not rejects
    # as long as declared, and no longer
    state, _, rejects = _take(case, job, state, [(1, top - 200)])
    assert state.lateness_of(STREAM) == 40


def test_the_floor_is_kept() -> None:
    case, job = _job(STREAM)
    state = begin_live(job)
    for start in range(0, 400, 10):
        state, _, _ = _take(case, job, state, [(0, t) for t in range(start, start + 10)])
    assert state.lateness_of(STREAM) == 3


def test_without_adapt_what_is_declared_is_used() -> None:
    stream = replace(STREAM, floor_us=None)
    case, job = _job(stream)
    state = begin_live(job)
    for start in range(0, 400, 10):
        state, _, _ = _take(case, job, state, [(0, t) for t in range(start, start + 10)])
        assert state.lateness_of(stream) == 40


def test_a_change_is_told_once() -> None:
    case, job = _job(STREAM)
    state, told = begin_live(job), []
    for start in range(0, 400, 10):
        before = state
        state, _, _ = _take(case, job, state, [(0, t) for t in range(start, start + 10)])
        told += measure_batch(job, before, state, 0.1, 0.0)["events"]
    assert told == [
        "s: lateness: 3 microseconds in use, as observed, and no longer 40 microseconds"
    ]


@pytest.mark.parametrize("seed", range(10))
def test_answers_are_of_what_was_let_in(seed: int, tmp_path: Path) -> None:
    """Whatever is used: every row is answered or rejected, none twice, also after stops."""
    random = Random(seed)
    stream = replace(STREAM, floor_us=random.choice([0, 2, 10]), window_us=random.choice([10, 40]))
    case, job = _job(stream)
    rows: list[tuple[int, int]] = []
    spread = 5
    for t in range(200):
        spread = random.choice([0, 5, 15, 60]) if random.random() < 0.05 else spread
        rows.append((random.randrange(4), max(t - random.randint(0, spread), 0)))
    counts: Counter[int] = Counter()
    few = []
    for row in rows:
        counts[row[1]] += 1
        few += [row] if counts[row[1]] <= 5 else []
    rows = few
    state, answers, rejects = begin_live(job), [], []
    start = 0
    while start < len(rows):
        stop = start + random.choice([1, 4, 20])
        state, made, lost = _take(case, job, state, rows[start:stop])
        answers += made
        rejects += lost
        start = stop
        assert stream.floor_us is not None
        assert stream.floor_us <= state.lateness_of(stream) <= 40
        if random.random() < 0.3:
            again, _, _ = _take(case, job, state, [])
            place = commit_batch(
                tmp_path, "f", CommitRecord("run"), advance_live(job, state, {}, 0.0)
            )
            state = load_state(place, "f", job)[0]
            assert state.watches == again.watches
    done = -1 if state.finished_us is None else state.finished_us
    lost_at = Counter(r.at_us for r in rejects)
    kept: dict[int, list[int]] = {}
    for k, t in rows:
        kept.setdefault(t, []).append(k)
    found: Counter[Any] = Counter()
    for answer in answers:
        found[answer["at"]] += answer["multiplicity"]
    times = {answer["at"] for answer in answers}
    assert sum(found.values()) == sum(
        (len(ks) - lost_at[t]) ** 2 for t, ks in kept.items() if t <= done
    )
    assert len(times) == sum(len(ks) > lost_at[t] for t, ks in kept.items() if t <= done)
