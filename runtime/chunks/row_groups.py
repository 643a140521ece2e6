"""Read row groups of history: whole, a few of them ahead; or portion by portion."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Lock
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.chunks.late_pages import LatePages, Pages, choose_late, open_texts, take_coded
from ontoweir.runtime.chunks.late_rows import LateColumns, ReadRows, put_late
from ontoweir.runtime.chunks.order_wanted import FEW, WantedRest, order_wanted
from ontoweir.runtime.chunks.read_group import GroupFooter, open_columns, read_group
from ontoweir.runtime.chunks.reopened_file import open_again
from ontoweir.runtime.chunks.watch_times import RecalledTimes, RowSource, WatchedTimes
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.parquet.filled_column import FilledColumn, FilledLeaf
from ontoweir.runtime.parquet.open_filled import FilledColumns, find_leaves
from ontoweir.runtime.sources.coded_texts import find_coded, find_decimals, find_texts
from ontoweir.runtime.sources.convert_table import convert_table
from ontoweir.runtime.sources.history import History, Piece
from ontoweir.runtime.sources.list_pieces import add_absent
from ontoweir.runtime.sources.read_ordered import Rest, read_ordered
from ontoweir.runtime.sources.read_source import BAD, unreadable
from ontoweir.runtime.times.known_times import Place

_CACHED_GROUPS = 4
_AHEAD = 4
"""Row groups of a stream that are read ahead at most."""
_CACHED_FOOTERS = 16
_SAMPLE = 16_384
"""So many rows are looked at to know whether few are wanted."""
MAPPED = ".arrow"
"""How files are called that Arrow maps to memory: rows that are read once, soon."""


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
    of what is left of those before, one; `close` waits for them.

    Args:
        late: by stream whose rows are put into order, the columns that may be read late.
        narrow: the streams whose decimals may come as such of 64 bits.
    """

    def __init__(
        self,
        late: Mapping[str, LateColumns] = MappingProxyType({}),
        narrow: Set[str] = frozenset(),
    ) -> None:
        self._late, self._narrow = dict(late), narrow
        self._groups: OrderedDict[tuple[str, str, int], ReadRows] = OrderedDict()
        self._footers: OrderedDict[str, GroupFooter] = OrderedDict()
        self._ahead: dict[tuple[str, str, int], Future[ReadRows]] = {}
        self._rests: dict[str, Rest] = {}
        self._wanted: dict[str, WantedRest] = {}
        self._few: dict[str, bool] = {}
        self._all: set[str] = set()
        """Streams whose columns were read late up to a row group with rows that may be rejected."""
        self._probed: dict[str, tuple[Piece, pa.Table]] = {}
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="ontoweir-group")
        self._in_turn = ThreadPoolExecutor(1, thread_name_prefix="ontoweir-group")
        self._lock, self._choosing = Lock(), Lock()
        self._chosen: dict[str, LateColumns | None] = {}

    def close(self) -> None:
        """Read no more."""
        self._pool.shutdown(cancel_futures=True)
        self._in_turn.shutdown(cancel_futures=True)

    def read(self, history: History, index: int, rows: int, stop_us: int | None) -> pa.Table:
        """A row group's columns in use, where none may be read late: as read_rows.

        Raises:
            DataError: its file cannot be read.
        """
        return self.read_rows(history, index, rows, stop_us).table

    def read_rows(self, history: History, index: int, rows: int, stop_us: int | None) -> ReadRows:
        """A piece's columns in use. Read ahead are about so many rows, none from `stop_us` on.

        Raises:
            DataError: a file cannot be read.
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

    def _load(self, history: History, piece: Piece) -> ReadRows:
        if history.disorder is None:
            return ReadRows(self._load_group(history, piece))
        name = history.stream.name
        if name in self._late and not self._wants_few(history, piece):
            del self._late[name]  # of a stream all rows are read so, or none
        if name in self._late and name not in self._all:
            found = order_wanted(
                history.disorder,
                piece.group,
                history.stream,
                self._wanted.pop(name, None),
                partial(self._load_wanted, history),
            )
            if found is not None:
                read, self._wanted[name] = found
                return read
            self._all.add(name)
        table, rest = read_ordered(
            history.disorder,
            piece.group,
            history.stream,
            self._rests.pop(name, None),
            partial(self._load_probed, history),
        )
        self._rests[name] = rest
        return put_late(table, history.stream.timestamp) if name in self._all else ReadRows(table)

    def _wants_few(self, history: History, piece: Piece) -> bool:
        """Whether few of a stream's rows can be wanted, as the first row group says."""
        name = history.stream.name
        if name not in self._few:
            assert history.disorder is not None
            group = history.disorder.groups[piece.group]
            table = self._load_probed(history, group)
            self._probed[name] = group, table
            found = self._late[name].find(table)
            self._few[name] = found is not None and len(found) * FEW <= group.rows
        return self._few[name]

    def _load_wanted(self, history: History, piece: Piece) -> tuple[pa.Table, Array] | None:
        """A row group, and which of its rows can be wanted (None: some may be rejected)."""
        table, late = self._load_probed(history, piece), self._late[history.stream.name]
        if late.hold is not None and not late.hold(table):
            return None
        found = late.find(table)
        return table, np.arange(table.num_rows) if found is None else found

    def _load_probed(self, history: History, piece: Piece) -> pa.Table:
        """A row group, which is at hand if it was the first that was looked at."""
        name = history.stream.name
        if name in self._probed and self._probed[name][0] == piece:
            return self._probed.pop(name)[1]
        return self._load_group(history, piece)

    def _load_group(self, history: History, piece: Piece) -> pa.Table:
        times = None if history.disorder is None else history.disorder.times.take(piece)
        if times is None:
            return self._read_columns(history, piece, _list_wanted(history))
        others = self._read_columns(history, piece, history.columns)
        return others.append_column(history.stream.timestamp, times)

    def _read_columns(self, history: History, piece: Piece, wanted: Sequence[str]) -> pa.Table:
        if piece.file.endswith(MAPPED):
            return _map_rows(piece, wanted)
        try:
            with pa.OSFile(piece.file) as source:  # pages of a mapped file cost more than a copy
                footer = self._read_footer(source, history, piece.file)
                (table,) = read_group(source, footer, piece, wanted, None)
        except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise unreadable(piece.shown, error) from error
        table = add_absent(table, wanted, piece, history.stream)
        return self._convert(history, table)

    def scan(
        self,
        history: History,
        piece: Piece,
        rows: int,
        *,
        again: bool = False,
        late: LateColumns | None = None,
    ) -> Iterator[ReadRows]:
        """A row group of a Parquet file in portions, in order; no more than one is in memory.

        Args:
            history: whose it is; not one whose pieces are made of several row groups.
            piece: the row group.
            rows: of a portion, at most.
            again: open the file for each access, as many others are open.
            late: what may be read late (None: nothing).

        Raises:
            DataError: when a portion is asked for: its file cannot be read.
        """
        wanted = _list_wanted(history)
        try:
            with open_again(piece.file) if again else pa.OSFile(piece.file) as source:
                footer = self._read_footer(source, history, piece.file)
                late = None if late is None else self._choose_late(history, piece, late, source)
                times = _recall_times(history, footer, piece)
                read_now = wanted if times is None else [n for n in wanted if n not in times]
                filled = open_columns(source, footer, piece, read_now)
                pages = {} if late is None else _open_late(source, footer, piece, late, filled)
                early = [n for n in wanted if n not in pages]

                def read(name: str) -> "pa.ChunkedArray":
                    return next(read_group(source, footer, piece, [name], None)).column(name)

                convert = partial(self._convert, history)
                split = None
                if late is not None:
                    split = LatePages(late, history.columns, pages, read, convert).split
                opened = filled | (times or _watch_times(history, footer, piece, filled))
                for part in read_group(source, footer, piece, early, rows, opened):
                    table = convert(add_absent(part, early, piece, history.stream))
                    yield ReadRows(table) if split is None else split(table)
        except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise unreadable(piece.shown, error) from error

    def _choose_late(
        self, history: History, piece: Piece, late: LateColumns, source: "pa.NativeFile"
    ) -> LateColumns | None:
        """What is read late of a stream, as its first rows that are looked at say: of all its row
        groups the same."""
        if late.names == late.dear:
            return late
        name, footer = history.stream.name, self._read_footer(source, history, piece.file)
        with self._choosing:
            if name not in self._chosen:
                compared = [n for n in history.columns if n not in late.names]
                table = next(read_group(source, footer, piece, compared, _SAMPLE))
                table = self._convert(history, add_absent(table, compared, piece, history.stream))
                self._chosen[name] = choose_late(late, table)
            return self._chosen[name]

    def _convert(self, history: History, table: pa.Table) -> pa.Table:
        """The columns as declared, of rows that are read from a stream's own files."""
        if history.staged:
            return table
        timed, narrow = history.verified is not None, history.stream.name in self._narrow
        return convert_table(table, history.stream, timed=timed, narrow=narrow)

    def _read_footer(self, source: "pa.NativeFile", history: History, name: str) -> "GroupFooter":
        """What a file says of itself, and how its columns are read."""
        with self._lock:
            if name not in self._footers:
                footer = pq.read_metadata(source)
                coded = find_coded(footer, history.stream)
                decimals = find_decimals(footer, history.stream)
                texts = find_texts(footer, history.stream)
                held = {n: p for n, p in texts.items() if n not in coded}
                declared = {c.name for c in history.stream.columns}
                leaves = find_leaves(footer, declared | {history.stream.timestamp})
                filled = {n: f for n, f in leaves.items() if n not in held}
                filled = {n: f for n, f in filled.items() if not f.width or n in decimals}
                time = filled.get(history.stream.timestamp)
                if time is not None and _keeps_runs(history, time):
                    filled[history.stream.timestamp] = replace(time, runs=True)
                self._footers[name] = GroupFooter(footer, coded, decimals, held, filled)
                while len(self._footers) > _CACHED_FOOTERS:
                    self._footers.popitem(last=False)
            return self._footers[name]


def _keeps_runs(history: History, leaf: FilledLeaf) -> bool:
    """Whether a stream's timestamps are wanted by runs: all were seen to be there, and count as
    they are."""
    kind = leaf.kind
    micros = pa.types.is_timestamp(kind) and kind.unit == "us"
    return micros and history.verified is not None and history.stream.align == "error"


def _recall_times(
    history: History, footer: GroupFooter, piece: Piece
) -> dict[str, RowSource] | None:
    """The timestamps of a piece, where an earlier replay has read them by runs."""
    name, place = history.stream.timestamp, Place(piece.file, piece.group, piece.groups)
    leaf, verified = footer.filled.get(name), history.verified
    if leaf is None or not leaf.runs or history.staged or verified is None:
        return None
    runs = None if verified.times is None else verified.times.find(place, piece.rows)
    return None if runs is None else {name: RecalledTimes(runs, leaf.kind)}


def _watch_times(
    history: History,
    footer: GroupFooter,
    piece: Piece,
    filled: Mapping[str, FilledColumn | FilledColumns],
) -> dict[str, RowSource]:
    """The timestamps of a piece that are read by runs, and will be known."""
    name, place = history.stream.timestamp, Place(piece.file, piece.group, piece.groups)
    verified = history.verified
    if name not in filled or history.staged or verified is None or verified.times is None:
        return {}
    if not footer.filled[name].runs:
        return {}
    tell = partial(verified.times.add, place)
    return {name: WatchedTimes(filled[name], piece.rows, tell)}


def _open_late(
    source: "pa.NativeFile",
    footer: GroupFooter,
    piece: Piece,
    late: LateColumns,
    filled: dict[str, FilledColumn | FilledColumns],
) -> dict[str, Pages]:
    """The late columns of a row group that are read from their pages."""
    if piece.groups > 1:
        return {}
    places = {n: p for n, p in footer.texts.items() if n in late.names}
    pages = open_texts(source, footer.metadata, piece.group, places)
    return pages | take_coded(late.names, filled)


def _list_wanted(history: History) -> list[str]:
    """The columns that are read."""
    wanted = [*history.columns, history.stream.timestamp]
    if history.staged and history.verified is None:
        wanted.append(BAD)
    return wanted
