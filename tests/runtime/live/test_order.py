"""No row is late because of how a source was read: files of one time, partitions, silence."""

import itertools
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.arrivals.ingest import AGAIN, MODIFIED
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from ontoweir.runtime.live.model.live_job import PARTITION_OF, KnownSources, LiveJob, LiveState
from ontoweir.runtime.live.model.row_places import FILE, OFFSET, PARTITION
from tests.oracle.random_queries import Case
from tests.runtime.live_cases import find_case, make_table

Rows = list[tuple[Any, ...]]


def _busy_case(seed: int) -> tuple[Case, LiveJob]:
    """A case with several timestamps in each of its streams."""
    for case, job in find_case(seed=seed):
        streams = [h.stream.name for h in job.histories]
        if all(len({row[-1] for row in case.data[n][1]}) > 2 for n in streams):
            return case, job
    raise AssertionError


def _marked(table: pa.Table, **marks: Any) -> pa.Table:
    for name, mark in marks.items():
        table = table.append_column(name, pa.array([mark] * table.num_rows))
    return table


def _answers(case: Case, job: LiveJob) -> tuple[list[Any], int | None]:
    """What all rows at once give, and the last timestamp that is finished then."""
    rows = {
        h.stream.name: make_table(case, h.stream.name, case.data[h.stream.name][1])
        for h in job.histories
    }
    outcome = advance_live(job, begin_live(job), rows, 0.0)
    return outcome.answers[0].to_pylist(), outcome.state.finished_us


def _split(rows: Rows, random: Random) -> list[Rows]:
    """Rows in order of time, cut into files, also within a timestamp."""
    rows = sorted(rows, key=lambda row: row[-1])
    cuts = sorted({0, len(rows), *(random.randint(0, len(rows)) for _ in range(6))})
    return [rows[a:b] for a, b in itertools.pairwise(cuts)]


def _read_files(
    case: Case, job: LiveJob, seed: int, folder: Path, *, wait: bool
) -> tuple[list[Any], LiveState]:
    """Files of one modification time, in any order, one or two at once; state read back."""
    random = Random(seed)
    state, answers = begin_live(job), []
    left: dict[str, dict[str, Rows]] = {}
    for history in job.histories:
        parts = _split(case.data[history.stream.name][1], random)
        left[history.stream.name] = {f"/d/{n:03d}": p for n, p in enumerate(parts)}
    while any(left.values()):
        arrived, peers = {}, {}
        for name, files in left.items():
            taken = random.sample(sorted(files), k=min(len(files), random.randint(0, 2)))
            parts = [
                _marked(make_table(case, name, files.pop(path)), **{FILE: path, MODIFIED: 7})
                for path in taken
            ]
            if parts:
                arrived[name] = pa.concat_tables(parts)
                peers[name] = frozenset(files) if wait else frozenset()
        outcome = advance_live(job, state, arrived, 0.0, KnownSources(peers=peers))
        state = load_state(commit_batch(folder, "f", CommitRecord("r"), outcome), "f", job)[0]
        answers += outcome.answers[0].to_pylist()
    return answers, state


@pytest.mark.parametrize("seed", range(25))
def test_files_of_one_time_count_in_the_order_of_their_names(seed: int, tmp_path: Path) -> None:
    case, job = _busy_case(seed)
    answers, state = _read_files(case, job, seed, tmp_path, wait=True)
    expected, finished = _answers(case, job)
    assert state.finished_us == finished
    assert sorted(map(str, answers)) == sorted(map(str, expected))
    assert not state.reasons


def test_without_waiting_for_them_rows_are_late(tmp_path: Path) -> None:
    found = 0
    for seed in range(5):
        case, job = _busy_case(seed)
        found += _read_files(case, job, seed, tmp_path / str(seed), wait=False)[1].totals["late"]
    assert found > 0


def _read_lanes(case: Case, job: LiveJob, seed: int, folder: Path, *, known: bool) -> LiveState:
    """Three partitions of each stream, each in order, read at any pace."""
    random = Random(seed)
    state = begin_live(job)
    left: dict[str, dict[str, Rows]] = {}
    lanes: dict[str, list[str]] = {}
    for history in job.histories:
        name = history.stream.name
        lanes[name] = [f"{name}{PARTITION_OF}t/{n}" for n in range(3)]
        left[name] = {lane: [] for lane in lanes[name]}
        for row in sorted(case.data[name][1], key=lambda row: row[-1]):
            left[name][random.choice(lanes[name])].append(row)
        width = len(case.data[name][0]) - 1
        for rows in left[name].values():
            rows.append((*(None,) * width, 10_000_000))  # a heartbeat
    sent = dict.fromkeys((lane for mine in lanes.values() for lane in mine), 0)
    while any(rows for mine in left.values() for rows in mine.values()):
        arrived = {}
        for name, mine in left.items():
            parts = []
            for lane, rows in mine.items():
                count = random.choice((0, 0, 1, 4))
                table = _marked(make_table(case, name, rows[:count]), **{PARTITION: lane})
                offsets = range(sent[lane], sent[lane] + table.num_rows)
                parts.append(table.append_column(OFFSET, pa.array(offsets, pa.int64())))
                sent[lane] += table.num_rows
                mine[lane] = rows[count:]
            arrived[name] = pa.concat_tables(parts, promote_options="permissive")
        shown: dict[str, Any] = dict(lanes)
        if not known:
            shown = {n: sorted(set(arrived[n].column(PARTITION).to_pylist())) for n in lanes}
        outcome = advance_live(job, state, arrived, 0.0, KnownSources(partitions=shown))
        state = load_state(commit_batch(folder, "f", CommitRecord("r"), outcome), "f", job)[0]
    return state


@pytest.mark.parametrize("seed", range(15))
def test_every_partition_is_waited_for(seed: int, tmp_path: Path) -> None:
    case, job = _busy_case(seed)
    state = _read_lanes(case, job, seed, tmp_path, known=True)
    assert not state.reasons
    assert state.totals["results"] == len(_everything(case, job))


def _everything(case: Case, job: LiveJob) -> list[Any]:
    """The answers of all rows, the last timestamp's too."""
    rows = {}
    for history in job.histories:
        name = history.stream.name
        width = len(case.data[name][0]) - 1
        beat = (*(None,) * width, 10_000_000)
        rows[name] = make_table(case, name, [*case.data[name][1], beat])
    answers: list[Any] = advance_live(job, begin_live(job), rows, 0.0).answers[0].to_pylist()
    return answers


def test_partitions_that_nobody_knows_of_are_late(tmp_path: Path) -> None:
    found = 0
    for seed in range(5):
        case, job = _busy_case(seed)
        found += _read_lanes(case, job, seed, tmp_path / str(seed), known=False).totals["late"]
    assert found > 0


def test_an_offset_that_was_delivered_before_is_rejected() -> None:
    case, job = _busy_case(0)
    name = job.histories[0].stream.name
    lane = f"{name}{PARTITION_OF}t/0"
    rows = make_table(case, name, sorted(case.data[name][1], key=lambda row: row[-1]))
    table = _marked(rows, **{PARTITION: lane}).append_column(OFFSET, pa.array(range(len(rows))))
    shown = KnownSources(partitions={name: [lane]})
    first = advance_live(job, begin_live(job), {name: table[:2]}, 0.0, shown)
    second = advance_live(job, first.state, {name: table[1:3]}, 0.0, shown)
    assert [reject.reason for reject in second.rejects] == [AGAIN]
    assert second.state.offsets == {lane: 2}
    clean = advance_live(job, first.state, {name: table[2:4]}, 0.0, shown)
    assert not clean.rejects


def test_one_partition_may_idle_while_the_others_go_on() -> None:
    case, job = _busy_case(0)
    job = replace(job, idle_seconds={h.stream.name: 60.0 for h in job.histories})
    lanes = {
        h.stream.name: [f"{h.stream.name}{PARTITION_OF}t/{n}" for n in (0, 1)]
        for h in job.histories
    }
    arrived = {}
    for name, mine in lanes.items():
        rows = make_table(case, name, sorted(case.data[name][1], key=lambda row: row[-1]))
        table = _marked(rows, **{PARTITION: mine[0]})
        arrived[name] = table.append_column(OFFSET, pa.array(range(len(rows))))
    shown = KnownSources(partitions=lanes)
    state = advance_live(job, begin_live(job), arrived, 0.0, shown).state
    assert state.finished_us is None
    assert advance_live(job, state, {}, 59.0, shown).state.finished_us is None
    beat = {
        n: a[-1:].set_column(a.column_names.index(OFFSET), OFFSET, pa.array([99]))
        for n, a in arrived.items()
    }
    later = advance_live(job, state, beat, 61.0, shown).state
    assert later.finished_us == min(state.max_event_time.values()) - 1
