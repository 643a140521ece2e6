"""Live runs, micro-batch by micro-batch, without Spark: the answers of a replay, state on disk."""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import UsageError
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.arrivals.ingest import LATE
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import (
    CHECKPOINT_VERSION,
    commit_batch,
    last_batch,
    load_state,
)
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from tests.oracle.random_queries import STYLES, Case, make_case
from tests.oracle.relational import answers
from tests.oracle.test_aggregates_against_oracle import expect, make_aggregates
from tests.runtime.in_process import load_admitted
from tests.runtime.live_cases import cut_arrivals, make_job, make_table


def _run(
    job: LiveJob, batches: list[dict[str, pa.Table]], folder: Path
) -> tuple[list[dict[str, Any]], LiveState]:
    """Run, writing and reading the state back at every micro-batch."""
    state = begin_live(job)
    rows: list[dict[str, Any]] = []
    for batch in batches:
        outcome = advance_live(job, state, batch, 0.0)
        place = commit_batch(folder, "fingerprint", CommitRecord("run"), outcome)
        assert last_batch(folder) == place
        state = load_state(place, "fingerprint", job)[0]
        rows += outcome.answers[0].to_pylist()
    return rows, state


def _micros(value: datetime) -> int:
    return round((value - datetime(1970, 1, 1)).total_seconds() * 1e6)


@pytest.mark.parametrize("seed", range(70))
def test_live_equals_oracle(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    case = make_case(random, style=random.choice(sorted(STYLES)))
    verdict = check_query(case.query, case.catalog, disprove=False)
    if not verdict.plans:
        return
    job = make_job(case, verdict)
    streams = {h.stream.name for h in job.histories}
    rows, state = _run(job, cut_arrivals(case, random, streams), tmp_path)
    done = -1 if state.finished_us is None else state.finished_us
    base = load_admitted(case)
    stamps = {name: s.timestamp for name, s in case.catalog.streams.items()}
    query, distinct = case.query.disjuncts[0], case.query.distinct
    expected = answers(base, query, stamps, distinct=distinct, markers=done + 1)
    for marker, right in enumerate(expected):
        found: Counter[tuple[Any, ...]] = Counter()
        for row in rows:
            if _micros(row["at"]) <= marker:
                found[tuple(row[v] for v in case.query.variables)] += row.get("multiplicity", 1)
        assert found == right
    assert state.totals["late"] == 0
    assert state.totals["results"] == len(rows)


@pytest.mark.parametrize("seed", range(40))
def test_live_aggregates_equal_oracle(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    case = make_case(random, style=random.choice(sorted(STYLES)))
    union = make_aggregates(random, case)
    verdict = check_query(union, case.catalog, disprove=False)
    if not verdict.plans:
        return
    job = make_job(case, verdict)
    streams = {h.stream.name for h in job.histories}
    rows, state = _run(job, cut_arrivals(case, random, streams), tmp_path)
    done = -1 if state.finished_us is None else state.finished_us
    assert union.aggregation is not None
    current: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    size = len(union.aggregation.group)
    expected = expect(case, union)
    by_marker: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_marker.setdefault(_micros(row["at"]), []).append(row)
    for marker in range(min(done + 1, case.markers)):
        for update in by_marker.get(marker, []):
            values = tuple(update[c] for c in union.aggregation.columns)
            current[values[:size]] = values[size:]
        assert current == expected[marker]


def _simple(seed: int = 3) -> tuple[Case, LiveJob]:
    while True:
        case = make_case(Random(seed))
        verdict = check_query(case.query, case.catalog, disprove=False)
        if verdict.plans:
            return case, make_job(case, verdict)
        seed += 1


def test_late_rows_are_rejected_and_change_nothing() -> None:
    case, job = _simple()
    names = [h.stream.name for h in job.histories]
    first = {n: make_table(case, n, case.data[n][1]) for n in names}
    state = advance_live(job, begin_live(job), first, 0.0).state
    assert state.finished_us is not None
    late = {n: make_table(case, n, case.data[n][1][:1]) for n in names}
    outcome = advance_live(job, state, late, 0.0)
    assert {reject.reason for reject in outcome.rejects} == {LATE}
    assert outcome.state.totals["late"] == len(names)
    assert outcome.state.queries == state.queries
    assert not any(a.num_rows for a in outcome.answers)


def test_rows_before_a_declared_start_are_rejected() -> None:
    case, _ = _simple()
    streams = {n: replace(s, start_us=2 * s.step_us) for n, s in case.catalog.streams.items()}
    case = replace(case, catalog=replace(case.catalog, streams=streams))
    job = make_job(case, check_query(case.query, case.catalog, disprove=False))
    names = [h.stream.name for h in job.histories]
    rows = {n: make_table(case, n, case.data[n][1]) for n in names}
    outcome = advance_live(job, begin_live(job), rows, 0.0)
    early = sum(r[-1] < 2 for n in names for r in case.data[n][1])
    told = [r.reason for r in outcome.rejects if "before the declared start" in r.reason]
    assert len(told) == early > 0


def test_a_checkpoint_of_another_run_or_damaged_is_refused(tmp_path: Path) -> None:
    case, job = _simple()
    batch = {
        h.stream.name: make_table(case, h.stream.name, case.data[h.stream.name][1])
        for h in job.histories
    }
    outcome = advance_live(job, begin_live(job), batch, 0.0)
    place = commit_batch(tmp_path, "mine", CommitRecord("run", read={"s": [["f", 1]]}), outcome)
    state, record = load_state(place, "mine", job)
    assert (state.batch, record.run, record.read) == (0, "run", {"s": [["f", 1]]})
    with pytest.raises(UsageError, match="another run"):
        load_state(place, "other", job)
    file = next(f for f in sorted(place.glob("*.arrow")))
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(UsageError, match=r"damaged: .* is not what was written"):
        load_state(place, "mine", job)
    file.unlink()
    with pytest.raises(UsageError, match=r"damaged: .* is missing"):
        load_state(place, "mine", job)
    file.write_bytes(whole)
    manifest = place / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace(f'"version": {CHECKPOINT_VERSION}', '"version": 99'))
    with pytest.raises(UsageError, match="version 99"):
        load_state(place, "mine", job)
    manifest.write_text(text[:40])
    with pytest.raises(UsageError, match="manifest cannot be read"):
        load_state(place, "mine", job)


def _two_streams() -> tuple[Case, LiveJob, list[str]]:
    seed = 0
    while True:
        case = make_case(Random(seed), style="plain")
        verdict = check_query(case.query, case.catalog, disprove=False)
        if verdict.plans:
            job = make_job(case, verdict)
            names = [h.stream.name for h in job.histories]
            if len(names) > 1 and all(case.data[n][1] for n in names):
                return case, job, names
        seed += 1


def test_a_stream_that_says_nothing_holds_the_others_back_unless_it_may_idle() -> None:
    case, job, names = _two_streams()
    only = {names[0]: make_table(case, names[0], case.data[names[0]][1])}
    state = advance_live(job, begin_live(job), only, 0.0).state
    assert state.finished_us is None
    assert state.buffered_rows[names[0]].num_rows == len(case.data[names[0]][1])
    patient = replace(job, idle_seconds={names[1]: 60.0})
    waiting = advance_live(patient, begin_live(patient), only, 0.0).state
    waiting = advance_live(patient, waiting, {}, 59.0).state
    assert waiting.finished_us is None
    passed = advance_live(patient, waiting, {}, 60.0).state
    last = max(row[-1] for row in case.data[names[0]][1])
    assert passed.finished_us == last - 1


def test_a_row_of_nulls_is_a_heartbeat() -> None:
    case, job, names = _two_streams()
    first = {names[0]: make_table(case, names[0], case.data[names[0]][1])}
    width = len(case.data[names[1]][0])
    beat = {names[1]: make_table(case, names[1], [(*(None,) * (width - 1), 10_000)])}
    outcome = advance_live(job, begin_live(job), {**first, **beat}, 0.0)
    last = max(row[-1] for row in case.data[names[0]][1])
    assert outcome.state.finished_us == last - 1
    assert not outcome.rejects


def test_where_all_idle_what_came_is_finished() -> None:
    """All but the last timestamp of all, which may still get rows; twin: one may not idle."""
    case, job, names = _two_streams()
    rows = {n: make_table(case, n, case.data[n][1]) for n in names}
    last = max(row[-1] for n in names for row in case.data[n][1])
    for streams, finished in ((names, last - 1), (names[:1], None)):
        patient = replace(job, idle_seconds=dict.fromkeys(streams, 60.0))
        first = advance_live(patient, begin_live(patient), rows, 0.0).state
        after = advance_live(patient, first, {}, 60.0).state
        assert after.finished_us == (first.finished_us if finished is None else finished)
        assert not after.reasons
