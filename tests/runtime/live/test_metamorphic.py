"""What must not matter to a live run: the order of rows at a timestamp, and how rows are cut.

Live is replay, and is one marker at a time.
"""

from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from tests.oracle.random_queries import STYLES, Case
from tests.oracle.run_kernel import few_touched
from tests.runtime.live_cases import cut_arrivals, find_case, make_table

Batches = list[dict[str, pa.Table]]


def _run(job: LiveJob, batches: Batches) -> tuple[Counter[str], LiveState]:
    """The answers of every marker, and the state in the end. The last batch is taken in twice, as
    after an error."""
    state = begin_live(job)
    found: Counter[str] = Counter()
    for batch in batches:
        outcome = advance_live(job, state, batch, 0.0)
        if batch is batches[-1]:
            again = advance_live(job, state, batch, 0.0)
            assert again.answers == outcome.answers
            assert _kept(again.state) == _kept(outcome.state)
        state = outcome.state
        for row in outcome.answers[0].to_pylist():
            found[str(sorted(row.items(), key=str))] += 1
    return found, state


def _rows(case: Case, job: LiveJob) -> dict[str, list[tuple[Any, ...]]]:
    return {h.stream.name: list(case.data[h.stream.name][1]) for h in job.histories}


def _at_once(case: Case, rows: dict[str, list[tuple[Any, ...]]]) -> Batches:
    return [{name: make_table(case, name, mine) for name, mine in rows.items()}]


def _marker_by_marker(case: Case, rows: dict[str, list[tuple[Any, ...]]]) -> Batches:
    stamps = sorted({row[-1] for mine in rows.values() for row in mine})
    return [
        {n: make_table(case, n, [r for r in mine if r[-1] == at]) for n, mine in rows.items()}
        for at in stamps
    ]


def _kept(state: LiveState) -> list[Any]:
    """Every synopsis as a set of rows, and what runs count."""
    tables = [
        sorted(zip(*(frame[n].tolist() for n in sorted(frame.columns)), strict=True), key=repr)
        for query in state.queries
        if isinstance(query, ExecutionState)
        for kernel in query.kernels
        for _, frame in sorted(kernel.tables.items(), key=lambda entry: sorted(entry[0]))
    ]
    return [tables, state.finished_us, state.totals["results"], dict(state.max_event_time)]


@pytest.mark.parametrize("seed", range(40))
def test_order_and_cuts_do_not_matter(seed: int, pytestconfig: pytest.Config) -> None:
    random = Random(seed)
    budget = 20 if pytestconfig.getoption("--long") else 1
    for number in range(budget):
        style = sorted(STYLES)[(seed + number) % len(STYLES)]
        case, job = next(find_case(style, seed * 1000 + number))
        rows = _rows(case, job)
        whole, state = _run(job, _at_once(case, rows))
        shuffled = {n: random.sample(mine, k=len(mine)) for n, mine in rows.items()}
        again, after = _run(job, _at_once(case, shuffled))
        assert again == whole
        assert _kept(after) == _kept(state)
        for batches in (
            cut_arrivals(case, random, set(rows)),
            cut_arrivals(case, random, set(rows)),
            _marker_by_marker(case, shuffled),
        ):
            with few_touched():
                found, after = _run(job, batches)
            assert found == whole
            assert _kept(after) == _kept(state)
