"""Read the next chunk of history: whole timestamps, over all streams, in the worker."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import DataError, Source
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.read_decimals import read_decimals
from ontoweir.runtime.sources.coded_texts import concat_rows, find_coded, find_decimals
from ontoweir.runtime.sources.convert_table import convert_table
from ontoweir.runtime.sources.history import Cursor, History, Piece
from ontoweir.runtime.sources.list_pieces import add_absent
from ontoweir.runtime.sources.read_ordered import Rest, decode_piece, read_ordered
from ontoweir.runtime.sources.read_source import BAD, unreadable

BEGINNING = -(1 << 62)
_CACHED_GROUPS = 4
_AHEAD = 4
"""Row groups of a stream that are read ahead at most."""
_CACHED_FOOTERS = 16
MAPPED = ".arrow"
"""How files are called that Arrow maps to memory: rows that are read once, soon."""


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


def read_chunk(
    groups: "RowGroups",
    histories: Sequence[History],
    cursors: Mapping[str, Cursor],
    rows_per_chunk: int,
    stop_us: int | None = None,
) -> Chunk:
    """Read from the stream that lags until enough rows are there and some timestamp is complete.

    Args:
        groups: the task's reader of row groups.
        histories: the streams.
        cursors: where each is.
        rows_per_chunk: about how many rows to read.
        stop_us: a stream that has reached it is at its end; a chunk may hold rows beyond it.

    Raises:
        DataError: timestamps go backwards, or a file cannot be read.
    """
    readers = [_Reader(groups, h, cursors[h.stream.name]) for h in histories]
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

    def __init__(self, groups: "RowGroups", history: History, cursor: Cursor) -> None:
        self.groups, self.history, self.cursor = groups, history, cursor
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
        table = self.groups.read(self.history, self.ahead.piece, limit, stop_us)
        table = table.slice(self.ahead.offset, limit)
        stream = self.history.stream
        times, timed = decode_piece(table, stream, piece, self.ahead.offset)
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
        self.parts.append(Slice(times, timed, table.drop_columns([stream.timestamp])))
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
            fix='declare by how much rows come late, e.g. lateness = "1 minute" with the timestamp '
            "in the catalog, set sort = true in the stream's source, or sort the data",
            source=Source(piece.shown, piece.first + self.ahead.offset + row),
        )

    def take(self, limit: int | None) -> Slice:
        """The rows before a time (None: all)."""
        parts = self.parts
        if not parts:
            table = pa.table({n: pa.array([], pa.null()) for n in self.history.columns})
            return Slice(np.zeros(0, np.int64), np.zeros(0, np.bool_), table)
        times, timed, table = parts[0].times, parts[0].timed, parts[0].table
        if len(parts) > 1:
            times = np.concatenate([p.times for p in parts])
            timed = np.concatenate([p.timed for p in parts])
            table = concat_rows([p.table for p in parts])
        if limit is None:
            return Slice(times, timed, table)
        count = int(np.searchsorted(times, limit, side="left"))
        return Slice(times[:count], timed[:count], table.slice(0, count))

    def advance(self, count: int) -> Cursor:
        """The cursor behind the rows taken."""
        last_us = self.cursor.last_us
        taken = 0
        for part in self.parts:
            mine = min(len(part.times), count - taken)
            if mine > 0 and int(part.times[mine - 1]) > BEGINNING:
                last_us = int(part.times[mine - 1])
            taken += mine
        return self.cursor.moved(self.history, count, last_us)


def _map_rows(piece: Piece, wanted: Sequence[str]) -> pa.Table:
    """
    Raises:
        DataError: its file cannot be read.
    """
    try:
        with pa.memory_map(piece.file) as source, pa.ipc.open_file(source) as file:
            return pa.Table.from_batches([file.get_batch(piece.group)]).select(wanted)
    except (OSError, pa.ArrowInvalid) as error:
        raise unreadable(piece.shown, error) from error


class RowGroups:
    """Reads row groups, for one task: the last few are kept, for what is read in parts, and what
    files say of themselves, as their row groups are read one by one. While one is looked at, two
    threads (with Arrow's, for columns) read the next ones of its stream, or, where pieces are made
    of what is left of those before, one; `close` waits for them."""

    def __init__(self) -> None:
        self._groups: OrderedDict[tuple[str, str, int], pa.Table] = OrderedDict()
        self._footers: OrderedDict[str, _Footer] = OrderedDict()
        self._ahead: dict[tuple[str, str, int], Future[pa.Table]] = {}
        self._rests: dict[str, Rest] = {}
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="ontoweir-group")
        self._in_turn = ThreadPoolExecutor(1, thread_name_prefix="ontoweir-group")
        self._lock = Lock()

    def close(self) -> None:
        """Read no more."""
        self._pool.shutdown(cancel_futures=True)
        self._in_turn.shutdown(cancel_futures=True)

    def read(self, history: History, index: int, rows: int, stop_us: int | None) -> pa.Table:
        """A row group's columns in use. Read ahead are about so many rows, none from `stop_us` on.

        Raises:
            DataError: its file cannot be read.
        """
        key = self._start(history, index)
        for place, piece in enumerate(history.pieces[index + 1 : index + 1 + _AHEAD], index + 1):
            over = stop_us is not None and piece.low is not None and piece.low >= stop_us
            if over or rows <= 0:
                break
            self._start(history, place)
            rows -= piece.rows
        if key not in self._groups:
            self._groups[key] = self._ahead.pop(key).result()
            while len(self._groups) > _CACHED_GROUPS:
                self._groups.popitem(last=False)
        self._groups.move_to_end(key)
        return self._groups[key]

    def _start(self, history: History, index: int) -> tuple[str, str, int]:
        piece = history.pieces[index]
        key = (history.stream.name, piece.file, piece.group)
        if key not in self._groups and key not in self._ahead:
            pool = self._pool if history.disorder is None else self._in_turn
            self._ahead[key] = pool.submit(self._load, history, piece)
        return key

    def _load(self, history: History, piece: Piece) -> pa.Table:
        if history.disorder is None:
            return self._load_group(history, piece)
        name = history.stream.name
        table, rest = read_ordered(
            history.disorder,
            piece.group,
            history.stream,
            self._rests.pop(name, None),
            partial(self._load_group, history),
        )
        self._rests[name] = rest
        return table

    def _load_group(self, history: History, piece: Piece) -> pa.Table:
        wanted = [*history.columns, history.stream.timestamp]
        if history.staged and history.verified is None:
            wanted.append(BAD)
        if piece.file.endswith(MAPPED):
            return _map_rows(piece, wanted)
        try:
            with pa.OSFile(piece.file) as source:  # pages of a mapped file cost more than a copy
                footer = self._read_footer(source, history, piece.file)
                table = _read_group(source, footer, piece.group, wanted)
        except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise unreadable(piece.shown, error) from error
        table = add_absent(table, wanted, piece, history.stream)
        return table if history.staged else convert_table(table, history.stream)

    def _read_footer(self, source: "pa.OSFile", history: History, name: str) -> "_Footer":
        """What a file says of itself, and how its columns are read."""
        with self._lock:
            if name not in self._footers:
                footer = pq.read_metadata(source)
                coded = find_coded(footer, history.stream)
                decimals = find_decimals(footer, history.stream)
                self._footers[name] = _Footer(footer, coded, decimals)
                while len(self._footers) > _CACHED_FOOTERS:
                    self._footers.popitem(last=False)
            return self._footers[name]


@dataclass(frozen=True, slots=True)
class _Footer:
    """What a file says of itself; the columns that are read with their dictionaries; and the
    places of those that may be read by `read_decimals`."""

    metadata: "pq.FileMetaData"
    coded: tuple[str, ...]
    decimals: Mapping[str, int]


def _read_group(
    source: "pa.OSFile", footer: _Footer, group: int, wanted: Sequence[str]
) -> pa.Table:
    """Those of the columns wanted that a file has, of a row group."""
    file = pq.ParquetFile(
        source, metadata=footer.metadata, pre_buffer=False, read_dictionary=footer.coded
    )
    there = set(file.schema_arrow.names)
    names = [n for n in wanted if n in there]
    apart: dict[str, pa.ChunkedArray] = {}
    for name in names:
        if name in footer.decimals:
            found = read_decimals(source, footer.metadata, group, footer.decimals[name])
            if found is not None:
                apart[name] = found
    table = file.read_row_group(group, columns=[n for n in names if n not in apart])
    for name, values in apart.items():
        table = table.append_column(name, values)
    return table.select(names) if apart else table
