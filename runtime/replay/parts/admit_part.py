"""Admit the rows of one part; every row is admitted, or rejected and counted, by one part.

Where rows that repeat a key are in one part, and no limit on the rows of a timestamp is near, only
the rows of the part are looked at; else all are, and those of other parts are left out afterwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ontoweir.runtime.chunks.read_chunk import Chunk, Slice
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.columnar.steps import Steps
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.ingest.admit_rows import Admitted, CodedTexts, ReferenceCheck, admit_rows
from ontoweir.runtime.pool.text_table import take_rows
from ontoweir.runtime.sources.history import Cursor, History


def admit_part(
    division: Division,
    part: int,
    histories: Sequence[History],
    checks: Mapping[str, Sequence[ReferenceCheck]],
    chunk: Chunk,
    span: tuple[int | None, int | None],
) -> Mapping[str, Admitted]:
    """As admit_chunk, of the rows of a part; what is read and rejected is counted by one part.

    Raises:
        DataError: the data breaks what is declared of timestamps.
    """
    return {
        h.stream.name: _admit(
            division,
            part,
            h,
            chunk.slices[h.stream.name],
            chunk.before[h.stream.name],
            checks.get(h.stream.name, ()),
            span,
        )
        for h in histories
    }


def _admit(
    division: Division,
    part: int,
    history: History,
    rows: Slice,
    before: Cursor,
    references: Sequence[ReferenceCheck],
    span: tuple[int | None, int | None],
) -> Admitted:
    name = history.stream.name
    if name in division.whole:
        admitted = admit_rows(history, rows, before, references, span)
        return admitted if part == 0 else replace(admitted, read=0, rejected={})
    column = division.columns.get(name)
    mine = _find(division, part, history, rows.table, len(rows.times))
    if _is_apart(history, rows, column):
        index = np.flatnonzero(mine)
        taken = Slice(rows.times.take(index), rows.timed.take(index), _take(rows.table, index))
        return admit_rows(history, taken, before, references, span)
    admitted = admit_rows(history, rows, before, references, span)
    kept = np.flatnonzero(_find(division, part, history, admitted.table, len(admitted.times)))
    return _restrict(admitted, kept, _count_rejected(admitted, mine, first=part == 0))


def _find(division: Division, part: int, history: History, table: pa.Table, count: int) -> Array:
    """Which of so many rows are in the part."""
    column = division.columns.get(history.stream.name)
    if column is None:
        anywhere: Array = np.arange(count) % division.parts == part
        return anywhere
    mine: Array = division.place(history.stream, table.column(column)) == part
    return mine


def _take(table: pa.Table, index: Array) -> pa.Table:
    """The rows at an ascending index; numpy picks whole numbers in half the time."""
    columns: list[pa.Array | pa.ChunkedArray] = []
    for column in table.columns:
        if column.null_count or not pa.types.is_int64(column.type):
            columns.append(take_rows(column, index))
            continue
        chunks = [np.zeros(0, np.int64), *(chunk.to_numpy() for chunk in column.chunks)]
        whole = chunks[1] if len(chunks) == 2 else np.concatenate(chunks)
        columns.append(pa.array(whole.take(index)))
    return pa.table(columns, names=table.column_names)


def _is_apart(history: History, rows: Slice, column: str | None) -> bool:
    """Whether what is declared can be held of the rows of a part alone."""
    stream = history.stream
    if history.verified is not None or any(column not in key for key in stream.keys):
        return False
    limit = stream.max_per_timestamp
    if limit is None or len(rows.times) <= limit:
        return True
    steps = rows.times // stream.step_us
    return not bool((steps[limit:] == steps[:-limit]).any())


def _count_rejected(admitted: Admitted, mine: Array, *, first: bool) -> dict[str, int]:
    """How many of the part's rows were rejected, by reason; those without a timestamp, whose place
    is not known, are of the first part."""
    placed = dict.fromkeys(admitted.rejected, 0)
    counts = dict.fromkeys(admitted.rejected, 0)
    for reason, index in admitted.rejects:
        placed[reason] += len(index)
        counts[reason] += int(mine[index].sum())
    if first:
        for reason, count in admitted.rejected.items():
            counts[reason] += count - placed[reason]
    return {reason: count for reason, count in counts.items() if count}


def _restrict(admitted: Admitted, kept: Array, rejected: Mapping[str, int]) -> Admitted:
    """Some of what was admitted."""
    times = admitted.times[kept]
    return Admitted(
        Steps(times, admitted.steps.step_us),
        times,
        _take(admitted.table, kept),
        len(times) + sum(rejected.values()),
        rejected,
        coded={n: CodedTexts(c.table, c.codes[kept]) for n, c in admitted.coded.items()},
        filled=admitted.filled,
    )
