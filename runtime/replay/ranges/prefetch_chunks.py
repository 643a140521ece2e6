"""The chunks of a task's history, admitted, one ahead of what is computed."""

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from typing import TypeAlias

import pyarrow as pa

from ontoweir.runtime.engine.advance_rows import admit_chunk
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.ingest.admit_rows import Admitted, ReferenceCheck
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.sources.read_chunk import Chunk, RowGroups, read_chunk

Admit: TypeAlias = Callable[
    [
        Sequence[History],
        Mapping[str, Sequence[ReferenceCheck]],
        Chunk,
        tuple[int | None, int | None],
    ],
    Mapping[str, Admitted],
]
"""Admits the rows of a chunk, or of a part of it."""

_TIDY = 4
"""Chunks after which Arrow gives back what its threads have freed, which it keeps otherwise."""


def read_chunks(
    work: ExecutionContext,
    histories: Sequence[History],
    checks: Mapping[str, Sequence[ReferenceCheck]],
    cursors: Mapping[str, Cursor],
    span: tuple[int | None, int | None],
    admit: Admit = admit_chunk,
) -> Generator[tuple[Chunk, Mapping[str, Admitted]]]:
    """The chunks of some streams from a place on. While one is with the caller, a thread reads the
    next one; so two are in memory. To be closed (contextlib.closing), which waits for the thread.

    Args:
        work: the run.
        histories: the streams.
        checks: the references to enforce, by stream.
        cursors: where each stream is.
        span: [start, stop) in µs.
        admit: what admits rows.

    Raises:
        DataError: when its chunk is asked for: the data breaks what is declared of timestamps, or
            cannot be read.
    """

    def read(place: Mapping[str, Cursor]) -> tuple[Chunk, Mapping[str, Admitted]]:
        chunk = read_chunk(groups, histories, place, work.rows_per_chunk, span[1])
        return chunk, admit(histories, checks, chunk, span)

    done = not histories
    with (
        closing(RowGroups()) as groups,
        ThreadPoolExecutor(1, thread_name_prefix="ontoweir-read") as pool,
    ):
        coming = None if done else pool.submit(read, cursors)
        for number in count(1):
            if coming is None:
                return
            chunk, admitted = coming.result()
            coming = None if chunk.done else pool.submit(read, chunk.after)
            yield chunk, admitted
            if number % _TIDY == 0:
                pa.default_memory_pool().release_unused()
