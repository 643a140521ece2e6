"""What several lanes read of a stream is taken in, cut and admitted once, and only by those that
are equally far: every lane has what it has alone."""

import os
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.ingest.admit_rows import admit_rows
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.model import IntakeOptions, sign_history
from ontoweir.runtime.live.model.live_job import LiveJob, LiveOutcome
from ontoweir.runtime.live.model.step_memory import StepMemory
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import BAD
from tests.runtime.intake_cycles import FORMATS, Lister, make_member, open_project

NAMES = ("counts", "counted", "seen", "better", "filter")
"""Of s, of s and u, and of other columns of s."""


def _jobs(folder: Path, *names: str) -> list[LiveJob]:
    workspace = open_project(folder)
    return [make_member(folder, workspace, name).job for name in names]


def _make_rows(history: History, times: list[int], random: Random) -> pa.Table:
    columns: dict[str, Any] = {
        "k": pa.array([random.choice([0, 1, 4, 9]) for _ in times], pa.int64()),
        "a": pa.array([random.randrange(100) for _ in times], pa.int64()),
        "note": pa.array(["xxx" for _ in times]),
        "ts": pa.array([1_000_000 * t for t in times], pa.int64()),
    }
    none = pa.nulls(len(times), pa.string())
    return pa.table({n: columns[n] for n in (*history.columns, "ts")} | {BAD: none})


def _put_file(file: Path, step: int, *, lacks: str = "-") -> None:
    table = pa.table(
        {
            "ts": pa.array([1_000_000 * (step + 1)] * 3, pa.timestamp("us")),
            "k": pa.array([0, 1, 2], pa.int64()),
            "a": pa.array([9, 50, 99], pa.int64()),
            "note": pa.array(["xxx", "yyy", "zzz"]),
        }
    )
    pq.write_table(table.select([n for n in table.column_names if n != lacks]), file)
    os.utime(file, (1000 + step, 1000 + step))


def _show(outcome: LiveOutcome) -> list[Any]:
    state = outcome.state
    waiting = {name: rows.to_pylist() for name, rows in state.buffered_rows.items()}
    answers = [table.to_pylist() for table in outcome.answers]
    kept = [state.finished_us, state.totals, state.max_event_time, state.late, state.reasons]
    return [answers, outcome.rejects, waiting, kept, [q.rows for q in state.queries]]


@pytest.mark.parametrize("seed", range(6))
def test_lanes_of_one_step_have_what_each_has_alone(seed: int, tmp_path: Path) -> None:
    """One is of s alone, and finishes what the other, of s and u, still waits for: then rows are
    late for the first one only. The third is a copy of the first that begins later."""
    random = Random(seed)
    jobs = _jobs(tmp_path, "counts", "seen", "counted")
    (history,) = jobs[0].histories
    assert {sign_history(h) for j in jobs for h in j.histories if h.stream.name == "s"} == {
        sign_history(history)
    }
    other = next(h for h in jobs[1].histories if h.stream.name == "u")
    states = [begin_live(job) for job in jobs]
    late: Counter[int] = Counter()
    for step in range(12):
        reach = 10 * step
        times = {n: [reach + random.randrange(-8, 9) for _ in range(5)] for n in ("s", "u")}
        rows = {"s": _make_rows(history, [max(t, 0) for t in times["s"]], random)}
        if random.random() < 0.5:
            rows["u"] = _make_rows(other, [max(t, 0) for t in times["u"]], random)
        memory = StepMemory()
        for place, (job, state) in enumerate(zip(jobs, states, strict=True)):
            if place == 2 and step < 3:
                continue
            mine = {
                h.stream.name: rows[h.stream.name] for h in job.histories if h.stream.name in rows
            }
            alone = advance_live(job, state, mine, float(step))
            outcome = advance_live(job, state, mine, float(step), memory=memory)
            assert _show(outcome) == _show(alone)
            late[place] += outcome.state.totals["late"]
            states[place] = outcome.state
    assert late[0] > late[1]


def test_rows_of_several_lanes_are_admitted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when they were read from a commit, as copies of what waits."""
    admitted: list[tuple[str, tuple[str, ...]]] = []

    def count(history: History, *given: Any, **more: Any) -> Any:
        admitted.append((history.stream.name, history.columns))
        return admit_rows(history, *given, **more)

    monkeypatch.setattr("ontoweir.runtime.engine.advance_rows.admit_rows", count)
    for name in FORMATS:
        (tmp_path / name).mkdir()
    workspace = open_project(tmp_path)
    for session in range(2):
        options = IntakeOptions(
            tmp_path / "intake", on_failed=lambda name, error: pytest.fail(name)
        )
        intake = Intake(options, object())  # type: ignore[arg-type]  # reads nothing here
        intake.restore(ticks=False)
        for name in NAMES:
            intake.join(make_member(tmp_path, workspace, name))
        lister = Lister(tmp_path, intake, 1)
        for step in range(4 * session, 4 * session + 4):
            for name in ("s", "u"):
                _put_file(tmp_path / name / f"{step}.parquet", step)
            admitted.clear()
            lister.list()
            # both streams are as far, so no lane finishes more than another
            assert len(set(admitted)) == len(admitted)
        columns = {(h.stream.name, h.columns) for lane in intake.lanes for h in lane.histories}
        assert set(admitted) == columns
        assert len(columns) < sum(len(lane.histories) for lane in intake.lanes)
        assert len(intake.lanes) > 2
        intake.close()


def test_twin_a_file_that_lacks_what_one_needs_is_read_by_the_others(tmp_path: Path) -> None:
    for name in FORMATS:
        (tmp_path / name).mkdir()
    workspace = open_project(tmp_path)
    failed: dict[str, Any] = {}
    options = IntakeOptions(tmp_path / "intake", on_failed=failed.__setitem__)
    intake = Intake(options, object())  # type: ignore[arg-type]  # reads nothing here
    intake.restore(ticks=False)
    jobs = {name: make_member(tmp_path, workspace, name) for name in ("counts", "filter")}
    (one,), (other,) = (member.job.histories for member in jobs.values())
    assert one.columns == other.columns
    assert one.spare > other.spare
    for member in jobs.values():
        intake.join(member)
    lister = Lister(tmp_path, intake, 1)
    for step in range(3):
        _put_file(tmp_path / "s" / f"{step}.parquet", step, lacks="note" if step == 1 else "-")
        lister.list()
        assert set(failed) == ({"filter"} if step else set())
    (lane,) = intake.lanes
    assert lane.state.arrived == {"s": 9}
    intake.close()
