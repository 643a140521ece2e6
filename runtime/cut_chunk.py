"""Read the next chunk of history: whole timestamps, over all streams, in the worker."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import DataError, Source
from ontoweir.runtime.decode_times import decode_times, show_time
from ontoweir.runtime.frame import Array
from ontoweir.runtime.history import Cursor, History, Piece
from ontoweir.runtime.read_source import BAD, unreadable

BEGINNING = -(1 << 62)
_CACHED_GROUPS = 4
_CACHED_FOOTERS = 16
_footers: OrderedDict[tuple[str, str], pq.FileMetaData] = OrderedDict()
_cache: OrderedDict[tuple[str, str, int], pa.Table] = OrderedDict()
_ahead: dict[tuple[str, str, int], "Future[pa.Table]"] = {}
"""The next row groups of each stream, being read."""
_reader: list[ThreadPoolExecutor] = []


@dataclass(frozen=True, slots=True)
class Slice:
    """Consecutive rows of a stream: times in µs (those of rows without one repeat the last)."""

    times: Array
    timed: Array
    table: pa.Table


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


def cut_chunk(
    job: str,
    histories: Sequence[History],
    cursors: Mapping[str, Cursor],
    rows_per_chunk: int,
    stop_us: int | None = None,
) -> Chunk:
    """Read from the stream that lags until enough rows are there and some timestamp is complete.

    Args:
        job: a name of the run, for the cache of row groups.
        histories: the streams.
        cursors: where each is.
        rows_per_chunk: about how many rows to read.
        stop_us: a stream that has reached it is at its end; a chunk may hold rows beyond it.

    Raises:
        DataError: timestamps go backwards, or a file cannot be read.
    """
    readers = [_Reader(job, h, cursors[h.stream.name]) for h in histories]
    portion = max(1, rows_per_chunk // max(1, len(readers)))
    while True:
        waiting = [r for r in readers if not r.finished(stop_us)]
        if not waiting:
            break
        lagging = min(waiting, key=lambda r: r.last_us)
        if sum(r.rows for r in readers) >= rows_per_chunk:
            limit = lagging.last_us
            if any(r.first_us < limit for r in readers):
                break
        lagging.read(portion, stop_us)
    if waiting:
        limit = min(r.last_us for r in waiting)
        slices = {r.name: r.take(limit) for r in readers}
        now: int | None = limit - 1
    else:
        slices = {r.name: r.take(None) for r in readers}
        last = max((r.last_us for r in readers), default=BEGINNING)
        now = None if last == BEGINNING else last
    if now is not None and stop_us is not None:
        now = min(now, stop_us - 1)
    before = {r.name: r.cursor for r in readers}
    after = {r.name: r.advance(len(slices[r.name].times)) for r in readers}
    return Chunk(slices, before, after, now, not waiting)


class _Reader:
    """Reads ahead of a cursor."""

    def __init__(self, job: str, history: History, cursor: Cursor) -> None:
        self.job, self.history, self.cursor = job, history, cursor
        self.name = history.stream.name
        self.ahead = cursor
        self.parts: list[Slice] = []
        self.rows = 0
        self.last_us = BEGINNING if cursor.last_us is None else cursor.last_us
        self.first_us = 1 << 62

    def finished(self, stop_us: int | None) -> bool:
        """Whether nothing more is to come."""
        return self.ahead.piece >= len(self.history.pieces) or (
            stop_us is not None and self.last_us >= stop_us
        )

    def read(self, limit: int, stop_us: int | None) -> None:
        """Read some more rows, of one row group."""
        piece = self.history.pieces[self.ahead.piece]
        table = _read_group(self.job, self.history, self.ahead.piece, limit, stop_us)
        table = table.slice(self.ahead.offset, limit)
        stream = self.history.stream
        try:
            times, timed = decode_times(table.column(stream.timestamp))
        except ValueError as error:
            raise DataError(
                f"the timestamps of {stream.name} cannot be used: {error}",
                why=f"column {stream.timestamp} is declared as its timestamp",
                fix="name another column, or convert this one to timestamps in microseconds",
                source=Source(piece.shown, piece.first + self.ahead.offset),
            ) from error
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
        self.last_us = int(times[-1])
        self.parts.append(Slice(times, timed, table))
        self.rows += table.num_rows
        self.ahead = self.ahead.moved(self.history, table.num_rows, None)

    def _check_order(self, times: Array, index: Array | None) -> None:
        if len(times) == 0 or (times[0] >= self.last_us and (times[1:] >= times[:-1]).all()):
            return
        earlier = np.concatenate([[self.last_us], times[:-1]])
        at = int(np.flatnonzero(times < earlier)[0])
        row = at if index is None else int(index[at])
        piece = self.history.pieces[self.ahead.piece]
        stream = self.history.stream
        raise DataError(
            f"{stream.name}.{stream.timestamp} goes backwards, from {show_time(int(earlier[at]))} "
            f"to {show_time(int(times[at]))}",
            why="a stream is read in the order of its timestamps",
            fix="set sort = true in the stream's source in the catalog, or sort the data",
            source=Source(piece.shown, piece.first + self.ahead.offset + row),
        )

    def take(self, limit: int | None) -> Slice:
        """The rows before a time (None: all)."""
        parts = self.parts
        if not parts:
            table = pa.table({n: pa.array([], pa.null()) for n in self.history.columns})
            return Slice(np.zeros(0, np.int64), np.zeros(0, np.bool_), table)
        times = np.concatenate([p.times for p in parts])
        timed = np.concatenate([p.timed for p in parts])
        table = pa.concat_tables([p.table for p in parts], promote_options="permissive")
        if limit is None:
            return Slice(times, timed, table)
        count = int(np.searchsorted(times, limit, side="left"))
        return Slice(times[:count], timed[:count], table.slice(0, count))

    def advance(self, count: int) -> Cursor:
        """The cursor behind the rows taken."""
        seen = self.cursor.last_us
        taken = 0
        for part in self.parts:
            mine = min(len(part.times), count - taken)
            if mine > 0 and int(part.times[mine - 1]) > BEGINNING:
                seen = int(part.times[mine - 1])
            taken += mine
        return self.cursor.moved(self.history, count, seen)


def forget_groups() -> None:
    """Forget the row groups and footers that are kept for a task, which is over."""
    for reading in _ahead.values():
        if not reading.cancel():
            wait([reading])
    _ahead.clear()
    _cache.clear()
    _footers.clear()


def _footer(job: str, path: str, file: pq.ParquetFile) -> None:
    """Keep what a file says of itself: its row groups are read one by one."""
    _footers[job, path] = file.metadata
    while len(_footers) > _CACHED_FOOTERS:
        _footers.popitem(last=False)


def _read_group(job: str, history: History, index: int, rows: int, stop_us: int | None) -> pa.Table:
    """A row group's columns in use; the last few are kept, for what is read in parts, and about
    the next so many rows are read meanwhile."""
    piece = history.pieces[index]
    name = job + history.stream.name
    key = (name, piece.file, piece.group)
    found = _cache.get(key)
    if found is None:
        reading = _ahead.pop(key, None)
        found = _load_group(name, history, piece) if reading is None else reading.result()
        _cache[key] = found
        while len(_cache) > _CACHED_GROUPS:
            _cache.popitem(last=False)
    _cache.move_to_end(key)
    for place in range(index + 1, len(history.pieces)):
        after = history.pieces[place]
        if rows <= 0 or (stop_us is not None and after.low is not None and after.low >= stop_us):
            break
        _read_ahead(name, history, after)
        rows -= after.rows
    return found


def _read_ahead(name: str, history: History, piece: Piece) -> None:
    key = (name, piece.file, piece.group)
    if key in _cache or key in _ahead:
        return
    if not _reader:
        _reader.append(ThreadPoolExecutor(1, thread_name_prefix="ontoweir-read"))
    _ahead[key] = _reader[0].submit(_load_group, name, history, piece)


def _load_group(name: str, history: History, piece: Piece) -> pa.Table:
    wanted = [*history.columns, history.stream.timestamp]
    if history.staged:
        wanted.append(BAD)
    try:
        known = _footers.get((name, piece.file))
        with (
            pa.OSFile(piece.file) as source,  # pages of a mapped file cost more than a copy
            pq.ParquetFile(source, metadata=known, pre_buffer=False) as file,
        ):
            if known is None:
                _footer(name, piece.file, file)
            there = set(file.schema_arrow.names)
            table = file.read_row_group(piece.group, columns=[n for n in wanted if n in there])
    except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise unreadable(piece.shown, error) from error
    for column in wanted:
        if column not in there:
            text = pa.scalar(piece.constants[column], pa.string())
            table = table.append_column(column, pa.repeat(text, table.num_rows))
    return table
