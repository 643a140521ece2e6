"""Read the next chunk of history: whole timestamps, over all streams, in the worker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

import numpy as np
import pyarrow as pa

from ontoweir.errors import DataError, Source
from ontoweir.runtime.chunks.late_rows import LateRows, ReadRows, concat_late
from ontoweir.runtime.chunks.portions import Portions
from ontoweir.runtime.chunks.row_groups import MAPPED
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.coded_texts import concat_rows
from ontoweir.runtime.sources.find_line import find_line
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.sources.read_ordered import decode_piece
from ontoweir.runtime.times.time_runs import (
    Times,
    count_before,
    cut_times,
    join_times,
    pick_times,
    read_runs_of,
    spell_times,
)

BEGINNING = -(1 << 62)
_SHORT = 8
"""A chunk may lack one in so many of the rows that it should have: pieces are not cut for these."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Consecutive rows of a stream.

    `stamps`: times in µs (those of rows without one repeat the last); `timed`: which have one
    (None: all have); `late`: those whose other columns were read late (None: the table has all
    columns).
    """

    stamps: Times
    timed: Array | None
    table: pa.Table
    late: LateRows | None = None

    @property
    def times(self) -> Array:
        """The times, each by itself."""
        return spell_times(self.stamps)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole timestamps of all streams.

    `now_us`: no later row is at or before it (None: no row had a timestamp); `done`: history
    ends here; `read`: rows taken from each stream, and the cursors behind and before them.
    """

    slices: Mapping[str, Slice]
    before: Mapping[str, Cursor]
    after: Mapping[str, Cursor]
    now_us: int | None
    done: bool


def read_chunk(
    portions: Portions,
    histories: Sequence[History],
    cursors: Mapping[str, Cursor],
    rows_per_chunk: int,
    stop_us: int | None = None,
) -> Chunk:
    """Read from the stream that lags until enough rows are there and some timestamp is complete.

    Args:
        portions: the task's reader of rows.
        histories: the streams.
        cursors: where each is.
        rows_per_chunk: about how many rows to read.
        stop_us: a stream that has reached it is at its end; a chunk may hold rows beyond it.

    Raises:
        DataError: timestamps go backwards, or a file cannot be read.
    """
    readers = [_Reader(portions, h, cursors[h.stream.name]) for h in histories]
    portion = max(1, rows_per_chunk // max(1, len(readers)))
    waiting = [(r.last_us, n) for n, r in enumerate(readers) if not r.finished(stop_us)]
    heapify(waiting)
    enough = rows_per_chunk - rows_per_chunk // _SHORT
    rows, first_us = 0, min((r.first_us for r in readers), default=BEGINNING)
    while waiting:
        last_us, number = waiting[0]
        if rows >= enough and first_us < last_us:
            break
        lagging = readers[number]
        rows += lagging.read(portion, stop_us)
        first_us = min(first_us, lagging.first_us)
        if lagging.finished(stop_us):
            heappop(waiting)
        else:
            heapreplace(waiting, (lagging.last_us, number))
    if waiting:
        limit = min(readers[number].complete_us() for _, number in waiting)
        slices = {r.name: r.take(limit) for r in readers}
        now: int | None = limit - 1
    else:
        slices = {r.name: r.take(None) for r in readers}
        last = max((r.last_us for r in readers), default=BEGINNING)
        now = None if last == BEGINNING else last
    if now is not None and stop_us is not None:
        now = min(now, stop_us - 1)
    before = {r.name: r.cursor for r in readers}
    after = {r.name: r.advance(len(slices[r.name].stamps)) for r in readers}
    return Chunk(slices, before, after, now, not waiting)


class _Reader:
    """Reads ahead of a cursor."""

    def __init__(self, portions: Portions, history: History, cursor: Cursor) -> None:
        self.portions, self.history, self.cursor = portions, history, cursor
        portions.forget(history, cursor)
        self.name = history.stream.name
        self.ahead = cursor
        self.parts: list[Slice] = []
        self.last_us = BEGINNING if cursor.last_us is None else cursor.last_us
        self.first_us = 1 << 62

    def finished(self, stop_us: int | None) -> bool:
        """Whether nothing more is to come."""
        return self.ahead.piece >= len(self.history.pieces) or (
            stop_us is not None and self.last_us >= stop_us
        )

    def complete_us(self) -> int:
        """All rows before this time were read. Verified rows that are mapped are cut between two
        timestamps where that can be, and then the last one is complete, too."""
        pieces, place = self.history.pieces, self.ahead
        low = pieces[place.piece].low if place.piece < len(pieces) and not place.offset else None
        if low is None or low <= self.last_us or self.history.verified is None:
            return self.last_us
        mapped = self.history.disorder is None and pieces[place.piece].file.endswith(MAPPED)
        return self.last_us + 1 if mapped else self.last_us

    def read(self, limit: int, stop_us: int | None) -> int:
        """Read some more rows, of one row group; how many."""
        piece = self.history.pieces[self.ahead.piece]
        read = self.portions.read(self.history, self.ahead, limit, stop_us)
        table = read.table
        stream = self.history.stream
        known = self.history.verified is not None
        runs = read_runs_of(table.column(stream.timestamp))
        if runs is not None:
            return self._add(runs, None, ReadRows(table, read.late))
        times, timed = decode_piece(table, stream, piece, self.ahead.offset, known=known)
        if known and timed.all():  # rows that were verified were seen to be in order
            return self._add(times, None, ReadRows(table, read.late))
        if not timed.all():
            times = np.where(timed, times, BEGINNING)
            filled = np.maximum.accumulate(times) if len(times) else times
            self._check_order(times[timed], np.flatnonzero(timed))
            times = np.maximum(filled, self.last_us)
        else:
            self._check_order(times, None)
        if timed.any():
            first = int(times[int(np.argmax(timed))])
            self.first_us = min(self.first_us, first)
        elif len(times) and self.last_us > BEGINNING:
            self.first_us = min(self.first_us, self.last_us)
        return self._add(times, timed, ReadRows(table, read.late))

    def _add(self, times: Times, timed: Array | None, read: ReadRows) -> int:
        """Take in rows with their times; how many."""
        columns = read.table.drop_columns([self.history.stream.timestamp])
        if timed is None and len(times):
            ends = pick_times(times, np.array([0, len(times) - 1]))
            self._check_order(ends[:1], None)
            self.first_us = min(self.first_us, int(ends[0]))
        self.last_us = int(pick_times(times, np.array([len(times) - 1]))[0])
        self.parts.append(Slice(times, timed, columns, read.late))
        self.ahead = self.ahead.moved(self.history, read.num_rows, None)
        return read.num_rows

    def _check_order(self, times: Array, index: Array | None) -> None:
        if len(times) == 0 or (times[0] >= self.last_us and (times[1:] >= times[:-1]).all()):
            return
        earlier = np.concatenate([[self.last_us], times[:-1]])
        at = int(np.flatnonzero(times < earlier)[0])
        row = at if index is None else int(index[at])
        piece = self.history.pieces[self.ahead.piece]
        stream = self.history.stream
        number = piece.first + self.ahead.offset + row
        raise DataError(
            f"{stream.name}.{stream.timestamp} goes backwards, from {show_time(int(earlier[at]))} "
            f"to {show_time(int(times[at]))}",
            why="a stream is read in the order of its timestamps",
            fix='declare by how much rows come late, e.g. lateness = "1 minute" with the timestamp '
            "in the catalog, set sort = true in the stream's source, or sort the data",
            source=Source(piece.shown, find_line(stream.data, piece.shown, number)),
        )

    def take(self, limit: int | None) -> Slice:
        """The rows before a time (None: all)."""
        parts = self.parts
        if not parts:
            table = pa.table({n: pa.array([], pa.null()) for n in self.history.columns})
            return Slice(np.zeros(0, np.int64), np.zeros(0, np.bool_), table)
        timed, table, late = parts[0].timed, parts[0].table, parts[0].late
        times = join_times([p.stamps for p in parts])
        if len(parts) > 1:
            late = concat_late([p.late for p in parts], [len(p.stamps) for p in parts])
            which = [p.timed for p in parts if p.timed is not None]
            timed = np.concatenate(which) if which else None
            table = concat_rows([p.table for p in parts])
        if limit is None:
            return Slice(times, timed, table, late)
        count = int(count_before(times, np.array([limit]))[0])
        late = None if late is None else late.slice(0, count)
        timed = None if timed is None else timed[:count]
        return Slice(cut_times(times, 0, count), timed, table.slice(0, count), late)

    def advance(self, count: int) -> Cursor:
        """The cursor behind the rows taken."""
        last_us = self.cursor.last_us
        taken = 0
        for part in self.parts:
            mine = min(len(part.stamps), count - taken)
            if mine > 0:
                last = int(pick_times(part.stamps, np.array([mine - 1]))[0])
                last_us = last if last > BEGINNING else last_us
            taken += mine
        return self.cursor.moved(self.history, count, last_us)
