"""A stream shuffled within its lateness has the answers of the sorted one: live, and replayed."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.arrivals.ingest import LATE
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from tests.oracle.random_queries import STYLES, Case, make_case
from tests.oracle.relational import answers
from tests.runtime.in_process import answers_upto, load_admitted, replay_here, store
from tests.runtime.live_cases import make_job, make_table

Row = tuple[Any, ...]


def _shuffle(case: Case, random: Random) -> Case:
    """The case with a lateness for each stream, and its rows in an order that keeps it."""
    streams, data = {}, dict(case.data)
    for name, stream in case.catalog.streams.items():
        columns, rows = case.data[name]
        place = columns.index(stream.timestamp)
        lateness = random.choice([0, 1, 2, 5]) * stream.step_us
        data[name] = columns, _mix(rows, place, lateness, random)
        most = max(Counter(row[place] for row in rows).values(), default=1)
        limit = stream.max_per_timestamp or most
        streams[name] = replace(stream, lateness_us=lateness, max_per_timestamp=limit)
    return replace(case, catalog=replace(case.catalog, streams=streams), data=data)


def _mix(rows: list[Row], place: int, lateness: int, random: Random) -> list[Row]:
    """Rows so that each comes at most so long after a later one; those of one time in order."""
    delays = [row[place] + random.randint(0, lateness) for row in rows]
    shuffled = [rows[i] for i in sorted(range(len(rows)), key=lambda i: delays[i])]
    places: dict[Any, list[Row]] = {}
    for row in rows:
        places.setdefault(row[place], []).append(row)
    return [places[row[place]].pop(0) for row in shuffled]


def _expect(case: Case, markers: int) -> list[Counter[Row]]:
    stamps = {name: s.timestamp for name, s in case.catalog.streams.items()}
    query, distinct = case.query.disjuncts[0], case.query.distinct
    return answers(load_admitted(case), query, stamps, distinct=distinct, markers=markers)


@pytest.mark.parametrize("seed", range(60))
def test_a_replay_of_what_came_late(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    case = _shuffle(make_case(random, style=random.choice(sorted(STYLES))), random)
    verdict = check_query(case.query, case.catalog, disprove=False)
    if not verdict.plans:
        return
    catalog, statics = store(case, random, tmp_path)
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    job = QueryJob("q", verdict.union, verdict.plans, catalog, None, parts=parts)
    where: dict[str, Any] = random.choice([{"engine": "driver"}, {"ranges": 1}, {"ranges": 3}])
    size = random.choice([1, 3, 1000])
    rows, summary = replay_here(
        monkeypatch, job, tmp_path / "out.parquet", statics=statics, rows_per_chunk=size, **where
    )
    assert summary.late == 0
    for marker, right in enumerate(_expect(case, case.markers)):
        assert answers_upto(rows, case.query.variables, marker) == right


@pytest.mark.parametrize("seed", range(60))
def test_a_live_run_of_what_comes_late(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    case = _shuffle(make_case(random, style=random.choice(sorted(STYLES))), random)
    verdict = check_query(case.query, case.catalog, disprove=False)
    if not verdict.plans:
        return
    job = make_job(case, verdict)
    left = {h.stream.name: list(case.data[h.stream.name][1]) for h in job.histories}
    state, rows = begin_live(job), []
    while any(left.values()):
        batch: dict[str, pa.Table] = {}
        for name, waiting in left.items():
            count = random.randint(0, max(3, len(waiting) // 2))
            batch[name], left[name] = make_table(case, name, waiting[:count]), waiting[count:]
        outcome = advance_live(job, state, batch, 0.0)
        place = commit_batch(tmp_path, "fingerprint", CommitRecord("run"), outcome)
        state = load_state(place, "fingerprint", job)[0]
        rows += outcome.answers[0].to_pylist()
    assert state.totals["late"] == 0
    done = -1 if state.finished_us is None else state.finished_us
    for marker, right in enumerate(_expect(case, done + 1)):
        assert answers_upto(rows, case.query.variables, marker) == right


def test_what_comes_later_is_rejected_and_counted(tmp_path: Path) -> None:
    random = Random(3)
    case = make_case(random)
    while not check_query(case.query, case.catalog, disprove=False).plans:
        case = make_case(random)
    late = {
        n: replace(s, lateness_us=2, max_per_timestamp=s.max_per_timestamp or 99)
        for n, s in case.catalog.streams.items()
    }
    case = replace(case, catalog=replace(case.catalog, streams=late))
    job = make_job(case, check_query(case.query, case.catalog, disprove=False))
    names = [h.stream.name for h in job.histories]

    def at(time: int) -> dict[str, pa.Table]:
        return {n: make_table(case, n, [(*case.data[n][1][0][:-1], time)]) for n in names}

    state = advance_live(job, begin_live(job), at(10), 0.0).state
    assert state.finished_us == 7
    kept = advance_live(job, state, at(8), 0.0)
    assert not any(r.reason == LATE for r in kept.rejects)
    outcome = advance_live(job, state, at(5), 0.0)
    assert [r.reason for r in outcome.rejects] == [LATE] * len(names)
    for name in names:  # with a lateness of 5, time 5 would be open still
        assert outcome.state.late[name].needed_us == 5
    place = commit_batch(tmp_path, "fingerprint", CommitRecord("run"), outcome)
    assert load_state(place, "fingerprint", job)[0].late == outcome.state.late
