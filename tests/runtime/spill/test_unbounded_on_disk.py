"""Queries that are not bounded, with hardly a row in memory: the answers are those of a plain join,
replayed and live, and after every stop."""

from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from ontoweir.runtime.live.model.spill_files import list_spilled, place_spill, restore_spill
from ontoweir.runtime.spill.cold_rows import ColdRows
from tests.oracle.random_queries import Case
from tests.oracle.relational import answers, load
from tests.oracle.run_kernel import few_touched
from tests.oracle.test_aggregates_against_oracle import expect, make_aggregates
from tests.runtime.in_process import EPOCH, answers_upto, replay_here, store
from tests.runtime.live_cases import cut_arrivals
from tests.runtime.spill.spill_cases import make_joins, make_spilling, spill_query


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """More random cases with --long."""
    cases = 160 if metafunc.config.getoption("--long") else 20
    metafunc.parametrize("seed", range(cases))


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often all rows of a table were read, as those wanted could not be looked up."""
    told: list[int] = []
    after = ColdRows.after

    def count(rows: ColdRows) -> Any:
        told.append(rows.scans)
        return after(rows)

    monkeypatch.setattr(ColdRows, "after", count)
    return told


def test_replayed(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scans: list[int]
) -> None:
    random = Random(seed)
    case = make_joins(random)
    catalog, statics = store(case, random, tmp_path)
    job = spill_query(random, case.query, catalog)
    if job is None:
        return
    options: dict[str, Any] = {"statics": statics, "engine": "driver"}
    options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
    with few_touched() if seed % 2 else nullcontext():
        rows, _ = replay_here(monkeypatch, job, tmp_path / "out.parquet", **options)
    query, distinct = case.query.disjuncts[0], case.query.distinct
    stamps = dict.fromkeys(catalog.streams, "ts")
    base = load(case.data, case.types)
    expected = answers(base, query, stamps, distinct=distinct, markers=case.markers)
    for marker, right in enumerate(expected):
        assert answers_upto(rows, case.query.variables, marker) == right
    assert not any(scans)
    assert {p.name for p in tmp_path.iterdir()} == {"out.parquet", *catalog.streams}


def _run_live(
    case: Case, query: QueryJob, random: Random, folder: Path
) -> tuple[list[dict[str, Any]], int]:
    """The answers, with a stop after every second micro-batch; and the last finished marker."""
    job = place_spill(make_spilling(case, query), folder)
    state, rows = begin_live(job), []
    for number, batch in enumerate(
        cut_arrivals(case, random, {h.stream.name for h in job.histories})
    ):
        outcome = advance_live(job, state, batch, 0.0)
        if random.random() < 0.2:  # what was not committed never was
            outcome = advance_live(job, state, batch, 0.0)
        place = commit_batch(folder / "commits", "f", CommitRecord("run"), outcome)
        state = outcome.state
        if number % 2:
            state = load_state(place, "f", job)[0]
            assert list_spilled(job, state) == list_spilled(job, outcome.state)
            restore_spill(job, state)
        rows += outcome.answers[0].to_pylist()
        (held,) = state.queries
        assert isinstance(held, ExecutionState)
        for kernel, spill in zip(held.kernels, query.spill, strict=True):
            tables = () if spill is None else spill.tables
            inside = sum(kernel.stored[t.members].rows for t in tables if kernel.stored)
            assert spill is None or inside <= spill.most
    return rows, -1 if state.finished_us is None else state.finished_us


def test_live(seed: int, tmp_path: Path, scans: list[int]) -> None:
    random = Random(seed)
    case = make_joins(random)
    query = spill_query(random, case.query, case.catalog)
    if query is None:
        return
    with few_touched() if seed % 2 else nullcontext():
        rows, done = _run_live(case, query, random, tmp_path)
    first, distinct = case.query.disjuncts[0], case.query.distinct
    stamps = {name: s.timestamp for name, s in case.catalog.streams.items()}
    base = load(case.data, case.types)
    expected = answers(base, first, stamps, distinct=distinct, markers=done + 1)
    for marker, right in enumerate(expected):
        assert answers_upto(rows, case.query.variables, marker) == right
    assert not any(scans)


def test_aggregates(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    case = make_joins(random)
    union = make_aggregates(random, case)
    query = spill_query(random, union, case.catalog)
    if query is None:
        return
    rows, done = _run_live(case, query, random, tmp_path)
    assert union.aggregation is not None
    wanted = expect(case, union)
    groups = union.aggregation.group
    names = [a.name for a in union.aggregation.aggregates]
    latest: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for marker in range(done + 1):
        for row in rows:
            if (row["at"] - EPOCH).microseconds == marker:
                latest[tuple(row[g] for g in groups)] = tuple(row[n] for n in names)
        assert latest == wanted[marker]
