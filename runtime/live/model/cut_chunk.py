"""Part the waiting rows: those of finished timestamps, in order of time, and the rest."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from ontoweir.runtime.chunks.read_chunk import Chunk, Slice
from ontoweir.runtime.live.model.row_places import leave_unused
from ontoweir.runtime.live.model.step_memory import StepMemory
from ontoweir.runtime.sources.history import Cursor, History


def cut_chunk(
    histories: Sequence[History],
    buffered_rows: Mapping[str, pa.Table],
    limit: int,
    memory: StepMemory,
) -> tuple[Chunk, dict[str, pa.Table]]:
    """The rows of finished timestamps, in order of time, and what is left.

    Args:
        histories: the streams.
        buffered_rows: those that wait, by stream.
        limit: the last finished timestamp (µs).
        memory: of the step.
    """
    slices: dict[str, Slice] = {}
    left: dict[str, pa.Table] = {}
    for history in histories:
        name, time = history.stream.name, history.stream.timestamp
        rows = buffered_rows.get(name)
        if rows is None:
            table = pa.table({n: pa.array([], pa.null()) for n in history.columns})
            slices[name] = Slice(np.zeros(0, np.int64), np.zeros(0, np.bool_), table)
            continue
        make = partial(_cut, rows, time, limit)
        slices[name], rest = memory.once("cut", (rows,), (time, limit), make)
        if rest is not None:
            left[name] = rest
    cursors = {h.stream.name: Cursor() for h in histories}
    return Chunk(slices, cursors, cursors, limit, False), left


def _cut(rows: pa.Table, time: str, limit: int) -> "tuple[Slice, pa.Table | None]":
    times, left = rows.column(time).to_numpy(), None
    ready = times <= limit
    count = int(ready.sum())
    if count == len(times):
        table = rows
    else:  # what is left is copied, as it may stay for long, and the whole batch with it
        left = leave_unused(rows.filter(pa.array(~ready)))
        first = bool(ready[:count].all())
        table = rows.slice(0, count) if first else rows.filter(pa.array(ready))
        times = times[ready]
    if not bool((times[1:] >= times[:-1]).all()):
        order = np.argsort(times, kind="stable")
        table, times = table.take(pa.array(order)), times[order]
    return Slice(times, np.ones(len(times), dtype=np.bool_), table), left
