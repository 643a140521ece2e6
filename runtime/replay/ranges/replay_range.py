"""One Spark task of a replay: advance every plan over a range of time, chunk by chunk.

Groups of an aggregate query hold what all ranges before have found. So of several ranges, a task
of history writes what is new for the groups, and another one of the same range, which is given the
groups at its beginning, makes answers of it.
"""

import pickle
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias, assert_never

import pyarrow as pa

from ontoweir.errors import OntoweirError, RunError
from ontoweir.files.replace_file import replace_file, replacing
from ontoweir.runtime.blocks.advance_blocks import PreparedBlock, advance_blocks, prepare_blocks
from ontoweir.runtime.division.store_statics import open_statics
from ontoweir.runtime.division.task_failure import TaskFailure, describe_failure
from ontoweir.runtime.engine.advance_rows import (
    advance_level,
    advance_parts,
    advance_rows,
    count_markers,
    first_time,
)
from ontoweir.runtime.engine.aggregate_chunk import (
    PartRows,
    advance_groups,
    finish_groups,
    known_groups,
)
from ontoweir.runtime.engine.close_groups import add_matches, advance_closing, drop_final
from ontoweir.runtime.engine.count_emitted import count_emitted, count_own
from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState
from ontoweir.runtime.engine.merge_group_deltas import drop_known, merge_group_deltas
from ontoweir.runtime.engine.prepare_plan import PreparedPlan, prepare_plans
from ontoweir.runtime.folded.list_folded import list_folded
from ontoweir.runtime.ingest.admit_rows import ReferenceCheck
from ontoweir.runtime.ingest.list_references import reference_checks
from ontoweir.runtime.kernel.tables_of_size import level_streams
from ontoweir.runtime.replay.ranges.check_bound import check_bound, check_rows, list_sizes
from ontoweir.runtime.replay.ranges.prefetch_chunks import Asked, read_chunks
from ontoweir.runtime.replay.ranges.run_aside import run_aside
from ontoweir.runtime.replay.ranges.thin_chunks import list_narrow, list_thinned
from ontoweir.runtime.replay.ranges.write_behind import write_behind
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.results.write_results import write_part
from ontoweir.runtime.rules.enforce_rules import enforce_rules
from ontoweir.runtime.rules.keep_broken import keep_broken
from ontoweir.runtime.spill.spill_rows import drop_old
from ontoweir.runtime.verified.watch_rejects import RejectWatch


@dataclass(frozen=True, slots=True)
class HistoryTask:
    """A range to replay: [start, stop) in µs (None: no end), from a state.

    `level`: only advance partial matches of so many streams (ALL_SIZES: all), without answers;
    None: answer.
    `folder`: where answers and progress are written, which driver and workers see.
    `grouped`: write what is new for groups instead of answers, for a GroupTask.
    """

    index: int
    start_us: int | None
    stop_us: int | None
    level: int | None
    state: ExecutionState
    folder: str
    grouped: bool = False


@dataclass(frozen=True, slots=True)
class GroupTask:
    """Answers of a range of an aggregate query, from what its task of history has written.

    `found`: the folder of that task, with so many `parts`.
    `before`: what all ranges before have found (merge_group_deltas), but for groups that are final.
    `folder`: where answers and progress are written.
    `closed_us`: the last timestamp that the ranges before have finished; `begun`: they had any.
    """

    index: int
    found: str
    parts: int
    before: PartRows
    folder: str
    closed_us: int | None = None
    begun: bool = False


RangeTask: TypeAlias = HistoryTask | GroupTask
"""A closed union."""


@dataclass(frozen=True, slots=True)
class RangeProgress:
    """How far a task is: answers in `parts` files; `now_us`, the last finished timestamp; `done`:
    no more is to come."""

    parts: int = 0
    markers: int = 0
    tuples: int = 0
    state_rows: int = 0
    now_us: int | None = None
    done: bool = False


@dataclass(frozen=True, slots=True)
class RangeOutcome:
    """What a task did; `most`: the most state rows after any chunk; `matches`: what is new for
    groups in the whole range (merge_group_deltas)."""

    index: int
    state: ExecutionState
    progress: RangeProgress
    most: int
    rejected: Mapping[str, int]
    matches: PartRows = ()


@dataclass(frozen=True, slots=True)
class PreparedWork:
    """What all tasks of a run begin with: its plans, with static data encoded, and the references
    that it enforces, by stream; `watch`: is shown which rows of history are rejected;
    `blocks`: the queries whose answers it reads."""

    work: ExecutionContext
    plans: tuple[PreparedPlan, ...]
    checks: Mapping[str, Sequence[ReferenceCheck]]
    watch: RejectWatch | None = None
    blocks: tuple[PreparedBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupDelta:
    """What a chunk has for a GroupTask: new matches, and of the state but the groups how many rows
    it has, and which; `first_us`: of first_time."""

    matches: PartRows
    rows: int
    sizes: Sequence[str]
    now_us: int | None
    first_us: int | None


_REPORT_SECONDS = 0.1
"""How long a task goes on without a word where nothing is answered."""
_prepared: dict[str, PreparedWork] = {}


def replay_range(key: str, packed: Any, task: bytes) -> bytes:
    """Run one task; errors of ours come back as values (TaskFailure).

    Args:
        key: the run.
        packed: holds the pickled ExecutionContext as its `value`.
        task: the pickled RangeTask.
    """
    try:
        if key not in _prepared:
            _prepared.clear()
            _prepared[key] = prepare_work(open_statics(pickle.loads(packed.value)))
        given = partial(run_task, _prepared[key], pickle.loads(task))
        outcome = run_aside(given, lambda: None)
    except OntoweirError as error:
        return pickle.dumps(describe_failure(error))
    return pickle.dumps(outcome)


def prepare_work(work: ExecutionContext) -> PreparedWork:
    """What all tasks of a run begin with."""
    checks = reference_checks(work.references, work.statics)
    return PreparedWork(work, prepare_plans(work), checks, blocks=prepare_blocks(work))


def unpack_outcome(packed: bytes) -> RangeOutcome:
    """A task's outcome.

    Raises:
        OntoweirError: the task ended with it.
    """
    outcome: RangeOutcome | TaskFailure = pickle.loads(packed)
    if isinstance(outcome, RangeOutcome):
        return outcome
    raise outcome.error


def part_file(folder: str, index: int, part: int) -> Path:
    """The answers of a chunk of a range."""
    return Path(folder, f"{index:06d}-{part:08d}.part")


def progress_file(folder: str, index: int) -> Path:
    """How far a range is."""
    return Path(folder, f"{index:06d}.progress")


def run_task(
    prepared: PreparedWork, task: RangeTask, on_progress: Callable[[], None]
) -> RangeOutcome:
    """Chunk after chunk, each with the state of the one before; `on_progress` after each.

    Raises:
        OntoweirError: the data breaks its declarations, or the state its bound.
    """
    match task:
        case HistoryTask():
            with ExitStack() as held:
                return _replay(prepared, task, on_progress, held)
        case GroupTask():
            return _group(prepared.work, task, on_progress)
        case _:
            assert_never(task)


def _replay(
    prepared: PreparedWork, task: HistoryTask, on_progress: Callable[[], None], held: ExitStack
) -> RangeOutcome:
    work, plans, checks = prepared.work, prepared.plans, prepared.checks
    alone = task.level is None and not task.grouped and task.start_us is task.stop_us is None
    if work.aggregates is not None:
        work = replace(work, aggregates=replace(work.aggregates, alone=alone))
    histories = work.histories
    if task.level is not None:
        wanted = level_streams(work.plans, task.level, work.views)
        histories = tuple(h for h in histories if h.stream.name in wanted)
    state, progress, most = task.state, RangeProgress(), 0
    rejected: Counter[str] = Counter()
    matches: PartRows = ()
    answering = task.level is None and not task.grouped
    at_end = answering and work.aggregates is not None and work.aggregates.final
    span = (task.start_us, task.stop_us)
    folding = list_folded(work, plans) if answering else {}
    asked = Asked(list_thinned(work, plans), None, list_narrow(work, histories), folding)
    coming = read_chunks(work, histories, checks, state.cursors, span, asked=asked)
    chunks = held.enter_context(closing(coming))
    later = held.enter_context(write_behind())
    told, due = progress_file(task.folder, task.index), 0.0
    for chunk, found in chunks:
        before, kept = state, enforce_rules(work.rules, found, state.rules, chunk.now_us)
        admitted = kept.admitted
        keep_broken(Path(task.folder), chunk.now_us, found, kept.rejected)
        parts, write = progress.parts, _nothing
        if task.level is not None:
            state = advance_level(work, plans, admitted, chunk, state, task.level)
        elif task.grouped:
            state, fresh = advance_parts(work, plans, admitted, chunk, state)
            assert work.aggregates is not None
            matches = merge_group_deltas(work.aggregates, matches, fresh)
            if work.aggregates.bucket is not None:
                closes = work.aggregates.bucket
                matches = drop_final(work.aggregates, closes, matches, chunk.now_us)
            file = part_file(task.folder, task.index, parts)
            rest = state.rows - count_own(work, state)
            first = first_time(work, admitted)
            delta = GroupDelta(fresh, rest, list_sizes(work, state), chunk.now_us, first)
            write = partial(_replace, file, pickle.dumps(delta))
            parts += 1
        else:
            fed, below = advance_blocks(prepared.blocks, admitted, chunk, state.blocks)
            state, answers = advance_rows(work, plans, fed, chunk, state)
            state = replace(state, blocks=below, rules=kept.states)
            if answers.num_rows:
                file = part_file(task.folder, task.index, parts)
                write = partial(_write, file, answers, work.parquet)
                parts += 1
        for rows in admitted.values():
            rejected.update(rows.rejected)
        if prepared.watch is not None:
            prepared.watch.see(histories, chunk.before, found)
        progress = RangeProgress(
            parts,
            progress.markers + count_markers(admitted),
            progress.tuples + sum(a.read for a in admitted.values()),
            state.rows,
            progress.now_us if chunk.now_us is None else chunk.now_us,
            chunk.done and not at_end,
        )
        most = max(most, state.rows)
        check_bound(work, state)
        drop_old(work.spill, before.spilled, state.spilled)
        now = monotonic()
        if write is not _nothing or now >= due or chunk.done:
            later(partial(_report, write, told, progress, on_progress))
            due = now + _REPORT_SECONDS
    if at_end:
        write, progress = _finish(work, task, state.groups, progress)
        later(partial(_report, write, told, progress, on_progress))
    state = replace(state, cursors={})
    return RangeOutcome(task.index, state, progress, most, dict(rejected), matches)


def _group(
    work: ExecutionContext, task: GroupTask, on_progress: Callable[[], None]
) -> RangeOutcome:
    """The answers of a range: the groups of a chunk after those of the chunk before."""
    assert work.aggregates is not None
    closes = work.aggregates.bucket  # where a rule closes values, there is one range (_cut)
    if closes is None:
        groups = known_groups(work.aggregates, task.before, begun=task.begun)
    else:
        known = GroupState(closed=task.closed_us)
        groups = add_matches(work.aggregates, task.before or (), known)
    progress, most = RangeProgress(), 0
    for part in range(task.parts):
        file = part_file(task.found, task.index, part)
        try:
            delta: GroupDelta = pickle.loads(file.read_bytes())
        except OSError as error:
            raise RunError(
                f"{file} is not there, which a task has written",
                why="workers exchange what is new for groups in a folder beside the output",
                fix="write --output to a file system that all of them see",
            ) from error
        if closes is None:
            fresh = drop_known(work.aggregates, delta.matches, task.before)
            answers, groups = advance_groups(work.aggregates, fresh, groups, delta.first_us)
        else:
            now = delta.now_us
            answers, groups = advance_closing(work.aggregates, closes, delta.matches, groups, now)
        if answers.num_rows:
            _write(part_file(task.folder, task.index, progress.parts), answers, work.parquet)
            progress = replace(progress, parts=progress.parts + 1)
        rows = delta.rows + count_emitted(work, groups) + groups.rows
        most = max(most, rows)
        check_rows(work, rows, [*delta.sizes, f"groups {groups.rows}"])
        _replace(progress_file(task.folder, task.index), pickle.dumps(progress))
        on_progress()
    write, progress = _finish(work, task, groups, progress)
    write()
    _replace(progress_file(task.folder, task.index), pickle.dumps(progress))
    return RangeOutcome(task.index, ExecutionState({}, (), (), groups), progress, most, {})


def _finish(
    work: ExecutionContext, task: RangeTask, groups: GroupState, progress: RangeProgress
) -> tuple[Callable[[], None], RangeProgress]:
    """The end of a range of which the last rows of the groups that it changed are asked for, if
    any: what writes them, and the progress then."""
    progress = replace(progress, done=True)
    if work.aggregates is None or not work.aggregates.final:
        return _nothing, progress
    answers = finish_groups(work.aggregates, groups)
    if answers.num_rows == 0:
        return _nothing, progress
    file = part_file(task.folder, task.index, progress.parts)
    write = partial(_write, file, answers, work.parquet)
    return write, replace(progress, parts=progress.parts + 1)


def _nothing() -> None:
    """What there is to write where nothing is answered."""


def _report(
    write: Callable[[], None], file: Path, progress: RangeProgress, on_progress: Callable[[], None]
) -> None:
    """The end of a chunk: its answers, then how far the range is."""
    write()
    _replace(file, pickle.dumps(progress))
    on_progress()


def _write(file: Path, table: pa.Table, parquet: bool) -> None:
    with replacing(file, shared=True) as scratch:
        if parquet:
            write_part(table, str(scratch))
            return
        with pa.OSFile(str(scratch), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)


def _replace(file: Path, content: bytes) -> None:
    replace_file(file, content, shared=True)
