"""The chunks of a task's history, admitted, one ahead of what is computed."""

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import TypeAlias

import pyarrow as pa

from ontoweir.runtime.chunks.portions import FEWEST, PORTION, Portions
from ontoweir.runtime.chunks.read_chunk import Chunk, read_chunk
from ontoweir.runtime.engine.advance_rows import admit_chunk
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.folded.fold_rows import Folds
from ontoweir.runtime.folded.list_folded import Folding
from ontoweir.runtime.ingest.admit_rows import Admitted, ReferenceCheck
from ontoweir.runtime.ingest.encode_members import FEW
from ontoweir.runtime.replay.ranges.thin_chunks import (
    Portion,
    Wanted,
    drop_slices,
    join_late,
    list_late,
    thin_rows,
    unite_chunks,
)
from ontoweir.runtime.sources.history import Cursor, History

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

THINNEST = 8
"""Of rows that are left out, one in so many counts as held, so that no chunk takes too long."""
_SHORT = 8
"""A chunk of all rows may lack one in so many: no further portion is read for these, of which the
last timestamp of the one before often has some."""
_BESIDE = 2
"""Portions that are admitted beside each other."""
_TIDY = 8
"""Chunks after which Arrow gives back what its threads have freed, which it keeps otherwise."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What of the rows is asked for.

    `wanted`: which rows of streams are enough (list_thinned). While these are few of those that are
    read, only they are kept, and a portion is in memory with the others. `enough`: after so many
    rows no more are asked for, so nothing is read ahead of them (None: all are). `narrow`: the
    streams whose decimals may come as such of 64 bits (list_narrow). `folding`: the streams of
    which few rows stand for all (list_folded), as long as they do.
    """

    wanted: Wanted = field(default_factory=lambda: MappingProxyType({}))
    enough: int | None = None
    narrow: Set[str] = frozenset()
    folding: Folding = field(default_factory=lambda: MappingProxyType({}))


EVERYTHING = Asked()


def read_chunks(
    work: ExecutionContext,
    histories: Sequence[History],
    checks: Mapping[str, Sequence[ReferenceCheck]],
    cursors: Mapping[str, Cursor],
    span: tuple[int | None, int | None],
    admit: Admit = admit_chunk,
    asked: Asked = EVERYTHING,
) -> Generator[tuple[Chunk, Mapping[str, Admitted]]]:
    """The chunks of some streams from a place on. While one is with the caller, a thread reads the
    next one; so two are in memory. Of rows that are verified, and few of which are wanted, two
    portions are admitted beside each other. To be closed (contextlib.closing), which waits for the
    threads.

    Args:
        work: the run.
        histories: the streams.
        checks: the references to enforce, by stream.
        cursors: where each stream is.
        span: [start, stop) in µs.
        admit: what admits rows.
        asked: what of the rows is asked for.

    Raises:
        DataError: when its chunk is asked for: it is unreadable, or timestamps are not as declared.
    """
    wanted, enough, folds = asked.wanted, asked.enough, Folds(asked.folding)

    def prepare(chunk: Chunk, thin: bool) -> Mapping[str, Admitted]:
        admitted = join_late(chunk, admit(histories, checks, chunk, span))
        return folds.fold(thin_rows(work, admitted, wanted)) if thin else admitted

    def read(place: Mapping[str, Cursor], asked: int) -> tuple[Chunk, Mapping[str, Admitted]]:
        """`asked`: rows of the chunks before; where enough are, this chunk ends with them."""
        parts: list[Portion] = []
        left, thin, done = work.rows_per_chunk, bool(wanted or folds.folding), False
        portion = min(left, max(PORTION, FEWEST * len(histories)))
        begun: deque[tuple[Chunk, Future[Mapping[str, Admitted]]]] = deque()
        while True:
            short = 0 if thin else work.rows_per_chunk // _SHORT
            most_begun = beside if thin and (wanted or folds.pay) else 1
            while not done and len(begun) < most_begun and (left > short or not parts):
                if enough is not None and asked >= enough:
                    break
                size = portion * (2 if wanted and parts else 1)  # few of the first are wanted
                chunk = read_chunk(portions, histories, place, size if thin else left, span[1])
                asked += sum(len(s.stamps) for s in chunk.slices.values())
                begun.append((chunk, preparing.submit(prepare, chunk, thin)))
                place, done = chunk.after, chunk.done
            if not begun:
                return unite_chunks(parts)
            chunk, coming = begun.popleft()
            admitted = coming.result()
            rows = sum(len(s.stamps) for s in chunk.slices.values())
            kept = sum(len(a.stamps) for a in admitted.values())
            thin = thin and FEW * kept <= rows
            left -= max(kept, rows // THINNEST) if thin else rows
            parts.append(drop_slices(chunk, admitted))

    done = not histories
    late = list_late(work, histories, checks, wanted)
    # rows that are held to what is declared may be looked up in tables of texts, one at a time
    apart = admit is admit_chunk and all(h.verified is not None for h in histories)
    beside = _BESIDE if apart else 1
    with (
        ThreadPoolExecutor(beside, thread_name_prefix="ontoweir-admit") as preparing,
        closing(Portions(late, len(histories), enough, asked.narrow)) as portions,
        ThreadPoolExecutor(1, thread_name_prefix="ontoweir-read") as pool,
    ):
        coming, rows = None if done else pool.submit(read, cursors, 0), 0
        for number in count(1):
            if coming is None:
                return
            chunk, admitted = coming.result()
            rows += sum(a.read for a in admitted.values())
            over = chunk.done or (enough is not None and rows >= enough)
            coming = None if over else pool.submit(read, chunk.after, rows)
            yield chunk, admitted
            if number % _TIDY == 0:
                pa.default_memory_pool().release_unused()
