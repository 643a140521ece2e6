"""What a run shows of itself: a record for each micro-batch, bounds that stop it."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from ontoweir.checker.model.declarations import Declaration
from ontoweir.checker.model.plan import Bound
from ontoweir.errors import RunError, Source
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.measure_batch import measure_batch
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from ontoweir.runtime.live.stage_clock import StageClock, show_stages
from ontoweir.runtime.live.write_metrics import write_metrics
from tests.oracle.random_queries import Case
from tests.runtime.live_cases import find_case, make_table


def _with_state() -> tuple[Case, LiveJob, LiveState]:
    """A case whose state is not empty after all its rows."""
    for case, job in find_case():
        rows = {
            h.stream.name: make_table(case, h.stream.name, case.data[h.stream.name][1])
            for h in job.histories
        }
        state = advance_live(job, begin_live(job), rows, 100.0).state
        if state.queries[0].rows:
            return case, job, state
    raise AssertionError


def test_a_record_has_every_synopsis_against_its_bound_and_every_streams_lag() -> None:
    case, job, state = _with_state()
    record = measure_batch(job, begin_live(job), state, 0.5, 100.0)
    json.dumps(record)
    kept = record["queries"]["q"]
    assert kept["state_rows"] == sum(s["rows"] for s in kept["synopses"]) > 0
    assert kept["state_bytes"] >= 8 * kept["state_rows"]
    for synopsis in kept["synopses"]:
        assert synopsis["rows"] <= synopsis["bound_rows"]
        assert synopsis["bytes"] <= synopsis["bound_bytes"]
    assert kept["bound_bytes"] == sum(s["bound_bytes"] for s in kept["synopses"])
    newest = max(row[-1] for name in record["streams"] for row in case.data[name][1])
    assert state.finished_us is not None
    behind = round((newest - state.finished_us) / 1e6, 3)
    assert record["behind_seconds"] == behind
    tuples = {name: len(case.data[name][1]) for name in record["streams"]}
    assert {n: s["tuples"] for n, s in record["streams"].items()} == tuples
    assert record["tuples"] == sum(tuples.values())
    assert record["tuples_per_second"] == 2 * record["tuples"]
    for name, stream in record["streams"].items():
        last = max(row[-1] for row in case.data[name][1])
        assert stream["lag_seconds"] == pytest.approx(100 - last / 1e6, abs=0.001)


def test_records_are_lines_and_the_last_one_is_there_for_prometheus(tmp_path: Path) -> None:
    _, job, state = _with_state()
    clock = StageClock()
    with clock.time("commit"):
        stages = show_stages(StageClock().seconds, {**clock.seconds, "read": 0.25})
    record = measure_batch(job, begin_live(job), state, 0.5, 100.0, stages)
    record["rejects"] = {'say "no"\\': 2}
    write_metrics(tmp_path, record)
    write_metrics(tmp_path, {**record, "batch": 1})
    lines = [json.loads(x) for x in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [x["batch"] for x in lines] == [0, 1]
    text = (tmp_path / "metrics.prom").read_text()
    rows = record["queries"]["q"]["state_rows"]
    assert "ontoweir_batch 1\n" in text
    assert 'ontoweir_stage_seconds{stage="read"} 0.25\n' in text
    assert f'ontoweir_query_state_rows{{query="q"}} {rows}\n' in text
    most = record["queries"]["q"]["bound_bytes"]
    assert f'ontoweir_query_bound_bytes{{query="q"}} {most}\n' in text
    assert f"ontoweir_behind_seconds {record['behind_seconds']}\n" in text
    assert 'ontoweir_rejects_total{reason="say \\"no\\"\\\\"} 2\n' in text
    names = [x.split("{")[0].split(" ")[0] for x in text.splitlines() if not x.startswith("#")]
    typed = [x.split(" ")[2] for x in text.splitlines() if x.startswith("# TYPE")]
    assert sorted(set(names)) == sorted(typed)
    assert {p.name for p in tmp_path.iterdir()} == {"metrics.jsonl", "metrics.prom"}
    write_metrics(tmp_path, record, longest=10)
    assert (tmp_path / "metrics.1.jsonl").exists()
    write_metrics(tmp_path, record)
    assert len((tmp_path / "metrics.jsonl").read_text().splitlines()) == 1


def _rows(case: Case, job: LiveJob) -> dict[str, pa.Table]:
    return {
        h.stream.name: make_table(case, h.stream.name, case.data[h.stream.name][1])
        for h in job.histories
    }


def test_a_synopsis_over_its_bound_stops_the_run_and_is_named() -> None:
    """Its bound is lowered below what it holds; one as high as what it holds does not fire."""
    case, job, state = _with_state()
    query = job.queries[0]
    plan = query.plans[0].plan
    kept = state.queries[0]
    assert isinstance(kept, ExecutionState)
    table = next(t for t in plan.tables if kept.kernels[0].tables.get(t.members))
    held = kept.kernels[0].tables[table.members].rows
    stream = plan.form.members[min(table.members)].stream
    declared = Declaration("domain", stream, ("c",), "what was promised", Source("x.toml", 7))

    def limited(rows: int) -> LiveJob:
        less = replace(table, bound=Bound(rows, "promised"))
        tables = tuple(less if t is table else t for t in plan.tables)
        prepared = replace(query.plans[0], plan=replace(plan, tables=tables))
        plans = (prepared, *query.plans[1:])
        return replace(job, queries=(replace(query, plans=plans, declarations=(declared,)),))

    fine = limited(held)
    advance_live(fine, begin_live(fine), _rows(case, job), 100.0)
    broken = limited(held - 1)
    with pytest.raises(RunError, match=f": {held} of {held - 1}") as caught:
        advance_live(broken, begin_live(broken), _rows(case, job), 100.0)
    assert "what was promised (x.toml:7)" in str(caught.value)
    assert "formula: promised" in str(caught.value)
    assert caught.value.exit_code == 3


def test_too_many_rows_that_wait_stop_the_run_and_say_for_whom() -> None:
    case, job, _ = _with_state()
    first = job.histories[0].stream.name
    rows = {first: make_table(case, first, case.data[first][1])}
    count = rows[first].num_rows
    if len(job.histories) == 1:
        stamps = [row[-1] for row in case.data[first][1]]
        count = stamps.count(max(stamps))
    fine = replace(job, most_waiting=count)
    advance_live(fine, begin_live(fine), rows, 0.0)
    broken = replace(job, most_waiting=count - 1)
    with pytest.raises(RunError, match="rows wait for"):
        advance_live(broken, begin_live(broken), rows, 0.0)
