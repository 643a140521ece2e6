"""Replay one part of a history: all chunks are read, the rows of the part are advanced."""

import pickle
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.files.replace_file import replace_file, replacing
from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.engine.advance_rows import advance_rows
from ontoweir.runtime.engine.aggregate_chunk import finish_groups
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.replay.parts.admit_part import admit_part
from ontoweir.runtime.replay.ranges.check_bound import check_bound
from ontoweir.runtime.replay.ranges.prefetch_chunks import read_chunks
from ontoweir.runtime.replay.ranges.replay_range import PreparedWork
from ontoweir.runtime.replay.ranges.scan_ranges import begin_range
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
        folder: where the files are written, which the collector sees.
        on_chunk: is called after every chunk.

    Raises:
        OntoweirError: the data breaks its declarations, or the state its bound.
    """
    work = prepared.work
    state = begin_range(work, None)
    admit = partial(admit_part, division, part)
    final = work.aggregates is not None and work.aggregates.final
    number = -1
    with (
        closing(
            read_chunks(work, work.histories, prepared.checks, state.cursors, work.span, admit)
        ) as chunks,
        write_behind() as later,
    ):
        for number, (chunk, admitted) in enumerate(chunks):
            state, answers = advance_rows(work, prepared.plans, admitted, chunk, state)
            check_bound(work, state)
            rejected: Counter[str] = Counter()
            for rows in admitted.values():
                rejected.update(rows.rejected)
            report = ChunkReport(
                list_times(admitted),
                sum(a.read for a in admitted.values()),
                dict(rejected),
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
            none = np.zeros(0, dtype=np.int64)
            report = ChunkReport(none, 0, {}, state.rows, None, answers.num_rows > 0, last=True)
            later(partial(_write, folder, part, number + 1, answers, report))
    on_chunk()


def list_times(admitted: Mapping[str, Admitted]) -> Array:
    """The distinct timestamps of what was admitted, in order."""
    found = [
        a.times[starts_of_runs(a.times)] if a.marks is None else a.marks
        for a in admitted.values()
        if len(a.times)
    ]
    return unite_times(found)


def unite_times(found: list[Array]) -> Array:
    """Distinct timestamps of several, in order."""
    if len(found) < 2:
        return found[0] if found else np.zeros(0, dtype=np.int64)
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
