"""Advance a part by a step: what a task does, in a worker of Spark's."""

import pickle
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ontoweir.errors import OntoweirError
from ontoweir.runtime.chunks.read_chunk import Chunk
from ontoweir.runtime.division.store_statics import open_statics
from ontoweir.runtime.division.task_failure import describe_failure
from ontoweir.runtime.engine.advance_rows import advance_rows
from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState
from ontoweir.runtime.engine.prepare_plan import prepare_plans
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.live.checkpoint.state_tables import assemble_part, encode_table
from ontoweir.runtime.live.model.divided_state import PartName
from ontoweir.runtime.live.model.live_job import RunningQuery
from ontoweir.runtime.live.parts.local_copy import find_copy, keep_copy
from ontoweir.runtime.live.parts.part_files import KeptTable, read_tables
from ontoweir.runtime.live.parts.part_task import (
    PartOutcome,
    PartTask,
    decode_rows,
)
from ontoweir.runtime.live.parts.store_part import store_part
from ontoweir.runtime.pool.string_pool import no_texts
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.sources.history import Cursor


@dataclass(frozen=True, slots=True)
class _HeldPart:
    """A part as this process has advanced it."""

    part: int
    version: str
    state: ExecutionState
    tables: Mapping[str, KeptTable]


@dataclass(slots=True)
class _Memory:
    """What a process remembers of a run: its queries, and of each the part that it had last."""

    run: str = ""
    queries: dict[str, RunningQuery] = field(default_factory=dict)
    held: dict[str, _HeldPart] = field(default_factory=dict)


_memory = _Memory()


@dataclass(frozen=True, slots=True)
class OfferedTasks:
    """The tasks of a step, each of which advances one of `parts`: in files of a folder that all
    machines see, named by their numbers."""

    folder: Path
    parts: tuple[PartName, ...]

    def offer(self, tasks: Sequence[bytes]) -> None:
        """Write the tasks."""
        self.folder.mkdir()
        for number, task in enumerate(tasks):
            self._free(number).write_bytes(task)

    def _free(self, number: int) -> Path:
        return self.folder / f"{number}.free"

    def taken(self, number: int, slot: int) -> Path:
        """The file of a task that a slot has taken."""
        return self.folder / f"{number}.{slot}"

    def take(self, slot: int, liked: Set[PartName]) -> int:
        """The number of a task that is this slot's from here on, one of a part that is liked if
        there is one; a slot that is tried again has the one that it had.

        Raises:
            LookupError: none is left.
        """
        numbers = range(len(self.parts))
        for number in numbers:
            if self.taken(number, slot).exists():
                return number
        for number in sorted(numbers, key=lambda n: self.parts[n] not in liked):
            with suppress(FileNotFoundError):  # another has it
                self._free(number).rename(self.taken(number, slot))
                return number
        raise LookupError(f"no task is left in {self.folder}")


def run_offered(
    run: str, packed: Mapping[str, Any], offered: OfferedTasks, slot: int
) -> tuple[int, bytes]:
    """Run one of the tasks of a step (run_part): if possible of a part that this process has
    advanced before and still holds, as to read it again takes longer than to advance it. Its
    number, and what it returns.

    Args:
        run: names this start of the run.
        packed: by query, holds the pickled ExecutionContext as its `value`.
        offered: the tasks, as many as there are slots.
        slot: a number that no other task of Spark's in this step has.
    """
    held = _memory.held if _memory.run == run else {}
    number = offered.take(slot, {(query, mine.part) for query, mine in held.items()})
    return number, run_part(run, packed, offered.taken(number, slot).read_bytes())


def run_part(run: str, packed: Mapping[str, Any], task: bytes) -> bytes:
    """Run one task; errors of ours come back as values (TaskFailure).

    Args:
        run: names this start of the run.
        packed: by query, holds the pickled ExecutionContext as its `value`.
        task: the pickled PartTask.
    """
    try:
        if _memory.run != run:
            _memory.queries.clear()
            _memory.held.clear()
            _memory.run = run
        wanted: PartTask = pickle.loads(task)
        if wanted.query not in _memory.queries:
            _memory.queries[wanted.query] = _prepare(packed[wanted.query].value)
        return pickle.dumps(_advance(run, _memory.queries[wanted.query], wanted))
    except OntoweirError as error:
        return pickle.dumps(describe_failure(error))


def _prepare(content: bytes) -> RunningQuery:
    work: ExecutionContext = open_statics(pickle.loads(content))
    return RunningQuery(work.name, work, prepare_plans(work), None)


def _advance(run: str, query: RunningQuery, task: PartTask) -> PartOutcome:
    work = query.work
    part = f"{run}-{query.name}-{task.part}"
    held = _open(query, task, part)
    cursors = {h.stream.name: Cursor() for h in work.histories}
    admitted = {h.stream.name: decode_rows(task.rows[h.stream.name], h) for h in work.histories}
    chunk = Chunk({}, cursors, cursors, task.now_us, False)
    state, answers = advance_rows(work, query.plans, admitted, chunk, held.state)
    after, tables = store_part(Path(task.folder), task.part, query, state, held.tables)
    keep_copy(part, after.version, tables, (held.version, held.tables))
    _memory.held[query.name] = _HeldPart(task.part, after.version, state, tables)
    return PartOutcome(after, encode_table(answers) if answers.num_rows else b"")


def _open(query: RunningQuery, task: PartTask, part: str) -> _HeldPart:
    """The part as it was before the step."""
    before = task.before
    known = _memory.held.pop(query.name, None)
    if known is not None and before.version and known.version == before.version:
        return known
    if not before.version:
        plans = range(len(query.plans))
        kernels = tuple(KernelState() for _ in plans)
        texts = tuple(no_texts() for _ in plans)
        return _HeldPart(task.part, "", ExecutionState({}, kernels, texts, GroupState()), {})
    tables = find_copy(part, before)
    others = {n: pieces for n, pieces in before.tables.items() if n not in tables}
    tables |= read_tables(Path(task.folder), others)
    state = assemble_part({n: t.table for n, t in tables.items()}, len(query.plans))
    return _HeldPart(task.part, before.version, replace(state, cursors={}), tables)
