"""Replay one part of a history. The first one reads all chunks, and hands the others their rows."""

import pickle
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.files.replace_file import replace_file, replacing
from ontoweir.runtime.chunks.read_chunk import Chunk
from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.division.divide_rows import divide_rows
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.engine.advance_rows import advance_rows
from ontoweir.runtime.engine.aggregate_chunk import finish_groups
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.replay.parts.hand_over import drop_rows, give_rows, take_rows
from ontoweir.runtime.replay.ranges.check_bound import check_bound
from ontoweir.runtime.replay.ranges.prefetch_chunks import Asked, read_chunks
from ontoweir.runtime.replay.ranges.replay_range import PreparedWork
from ontoweir.runtime.replay.ranges.scan_ranges import begin_range
from ontoweir.runtime.replay.ranges.thin_chunks import list_thinned
from ontoweir.runtime.replay.ranges.write_behind import write_behind


@dataclass(frozen=True, slots=True)
class ChunkReport:
    """What a part made of a chunk; `times`: the distinct timestamps of its rows, in µs, in order;
    `answers`: whether there is a file of them; `last`: no chunk comes after it."""

    times: Array
    tuples: int
    rejected: Mapping[str, int]
    state_rows: int
    now_us: int | None
    answers: bool
    last: bool


def replay_part(
    prepared: PreparedWork,
    division: Division,
    part: int,
    folder: Path,
    on_chunk: Callable[[], None],
) -> None:
    """Replay a part; answers and reports of every chunk are written to files of a folder.

    Args:
        prepared: what is replayed.
        division: which rows are in the part.
        part: its number.
        folder: where the files are written, which the collector and the other parts see.
        on_chunk: is called after every chunk.

    Raises:
        OntoweirError: the data breaks its declarations, or the state its bound.
    """
    work = prepared.work
    state = begin_range(work, None)
    final = work.aggregates is not None and work.aggregates.final
    number = -1
    with (
        closing(
            _take(folder, part, on_chunk) if part else _read(prepared, division, folder, state)
        ) as chunks,
        write_behind() as later,
    ):
        for number, (chunk, mine, told) in enumerate(chunks):
            state, answers = advance_rows(work, prepared.plans, mine, chunk, state)
            check_bound(work, state)
            report = ChunkReport(
                told.times,
                told.tuples,
                told.rejected,
                state.rows,
                chunk.now_us,
                answers.num_rows > 0,
                chunk.done and not final,
            )
            later(partial(_write, folder, part, number, answers, report))
            on_chunk()
        if final:
            assert work.aggregates is not None
            answers = finish_groups(work.aggregates, state.groups)
            report = ChunkReport(
                _NO_TIMES, 0, {}, state.rows, None, answers.num_rows > 0, last=True
            )
            later(partial(_write, folder, part, number + 1, answers, report))
    on_chunk()


@dataclass(frozen=True, slots=True)
class _Told:
    """What is told of the rows of all parts, by the first one alone."""

    times: Array = field(default_factory=lambda: _NO_TIMES)
    tuples: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)


_NO_TIMES: Array = np.zeros(0, dtype=np.int64)


def _read(
    prepared: PreparedWork, division: Division, folder: Path, state: ExecutionState
) -> Generator[tuple[Chunk, Mapping[str, Admitted], _Told]]:
    """The chunks, with the rows of the first part; those of others are handed over."""
    work = prepared.work
    wanted = list_thinned(work, prepared.plans)
    coming = read_chunks(
        work, work.histories, prepared.checks, state.cursors, work.span, asked=Asked(wanted)
    )
    with closing(coming) as chunks:
        for number, (chunk, admitted) in enumerate(chunks):
            marks = {n: list_marks(a) for n, a in admitted.items()}
            divided = [
                {n: replace(a, marks=marks[n]) for n, a in rows.items()}
                for rows in divide_rows(division, work.histories, admitted)
            ]
            for part, rows in enumerate(divided[1:], 1):
                give_rows(folder, part, number, chunk, rows)
            rejected: Counter[str] = Counter()
            for a in admitted.values():
                rejected.update(a.rejected)
            tuples = sum(a.read for a in admitted.values())
            yield chunk, divided[0], _Told(unite_times(list(marks.values())), tuples, rejected)


def _take(
    folder: Path, part: int, on_wait: Callable[[], None]
) -> Generator[tuple[Chunk, Mapping[str, Admitted], _Told]]:
    """The chunks, with the rows of another part."""
    for number in count():
        chunk, rows = take_rows(folder, part, number, on_wait)
        yield chunk, rows, _Told()
        drop_rows(folder, part, number)
        if chunk.done:
            return


def list_marks(admitted: Admitted) -> Array:
    """The distinct timestamps of what was admitted, in order."""
    if admitted.marks is not None:
        return admitted.marks
    marks: Array = admitted.times[starts_of_runs(admitted.times)]
    return marks


def unite_times(found: list[Array]) -> Array:
    """Distinct timestamps of several, in order."""
    found = [times for times in found if len(times)]
    if len(found) < 2:
        return found[0] if found else _NO_TIMES
    times = np.sort(np.concatenate(found), kind="stable")
    united: Array = times[starts_of_runs(times)]
    return united


def answers_file(folder: Path, part: int, chunk: int) -> Path:
    """The answers of a part in a chunk."""
    return folder / f"{part:04d}-{chunk:08d}.answers"


def report_file(folder: Path, part: int, chunk: int) -> Path:
    """What a part made of a chunk; written after its answers."""
    return folder / f"{part:04d}-{chunk:08d}.report"


def _write(folder: Path, part: int, chunk: int, answers: pa.Table, report: ChunkReport) -> None:
    if report.answers:
        with (
            replacing(answers_file(folder, part, chunk), shared=True) as scratch,
            pa.OSFile(str(scratch), "wb") as sink,
            pa.ipc.new_file(sink, answers.schema) as writer,
        ):
            writer.write_table(answers)
    replace_file(report_file(folder, part, chunk), pickle.dumps(report), shared=True)
