"""The rows of streams from a place on, portion by portion, the next ones read ahead."""

from bisect import insort
from collections.abc import Iterator, Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType

from ontoweir.runtime.chunks.late_rows import LateColumns, ReadRows
from ontoweir.runtime.chunks.row_groups import MAPPED, RowGroups
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.sources.read_source import unreadable

FEWEST, PORTION = 4_096, 524_288
"""Rows of a portion: every one costs a fraction of a millisecond, and the next is read ahead. Where
few of them are wanted, of which alone all columns are read, portions are twice as long."""
_BESIDE = 2
"""So many portions of the next piece are decoded beside the piece that is asked for."""
_OPEN = 64
"""So many files of streams stay open; those of others are opened for each access."""

_Place = tuple[int, int]
"""A piece by its number, and a row of it."""


@dataclass(frozen=True, slots=True, order=True)
class _Held:
    """A portion that was decoded, and may be asked for."""

    place: _Place
    rows: ReadRows = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Decoded:
    """Portions that follow each other, and why there are no more: the end of the piece, or what
    cannot be read after them."""

    portions: list[ReadRows]
    ended: bool
    error: Exception | None


@dataclass(slots=True)
class _Lane:
    """How far a piece is decoded.

    `piece`: its number; `first`: the row after the portions that were taken; `rows`: the rest of
    it, for the thread that decodes (None: not begun); `coming`: what is being decoded; `ended`:
    all of it was taken; `error`: what comes after that.
    """

    piece: int
    first: int = 0
    rows: Iterator[ReadRows] | None = None
    coming: "Future[_Decoded] | None" = None
    ended: bool = False
    error: Exception | None = None


@dataclass(slots=True)
class _Scan:
    """The pieces of a stream that are being decoded, by number, and portions that were, in order.
    `beside`: the next piece is decoded while the one that is asked for is not yet at its end."""

    size: int
    again: bool
    beside: bool
    lanes: dict[int, _Lane] = field(default_factory=dict)
    held: list[_Held] = field(default_factory=list)


class Portions:
    """Reads the streams of one task, each by itself from its beginning, or from where it was asked
    for, to its end: where there is one, two of its pieces side by side. Pieces that are made of
    several row groups, or mapped to memory, are read whole. To be closed, which waits for what is
    being read.

    Args:
        late: by stream, the columns of row groups that may be read late.
        streams: how many will be read.
        enough: where so many rows were asked for, nothing is read ahead (None: all are).
        narrow: the streams whose decimals may come as such of 64 bits.
    """

    def __init__(
        self,
        late: Mapping[str, LateColumns] = MappingProxyType({}),
        streams: int = 1,
        enough: int | None = None,
        narrow: Set[str] = frozenset(),
    ) -> None:
        self._asked, self._enough = 0, enough
        self._groups, self._late, self._beside = RowGroups(late, narrow), late, streams == 1
        self._scans: dict[str, _Scan] = {}
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="ontoweir-portion")

    def close(self) -> None:
        """Read no more."""
        self._pool.shutdown(cancel_futures=True)
        for scan in self._scans.values():
            scan.lanes.clear()
        self._groups.close()

    def forget(self, history: History, cursor: Cursor) -> None:
        """Rows of a stream before a place will not be asked for again."""
        scan = self._scans.get(history.stream.name)
        if scan is not None:
            place = (cursor.piece, cursor.offset)
            scan.held = [h for h in scan.held if (h.place[0], _behind(h)) > place]

    def read(self, history: History, cursor: Cursor, rows: int, stop_us: int | None) -> ReadRows:
        """Rows from a cursor on, within its piece: at least one, at most so many. Nothing is read
        ahead of pieces that begin at or after `stop_us`.

        Raises:
            DataError: a file cannot be read.
        """
        place = (cursor.piece, cursor.offset)
        piece = history.pieces[cursor.piece]
        if history.disorder is not None or piece.file.endswith(MAPPED):
            whole = self._groups.read_rows(history, cursor.piece, rows, stop_us)
            return whole.slice(cursor.offset, min(rows, whole.num_rows - cursor.offset))
        scan = self._find_scan(history, rows)
        while (found := _find(scan, place)) is None:
            lane = _lead(scan, place)
            if lane.error is not None:
                raise lane.error
            self._go_on(scan, history, lane, 1)
            if not self._has_enough(rows):
                self._go_beyond(scan, history, place[0], stop_us)
            _take(scan, lane)
        found = found.slice(0, rows)
        self._asked += found.num_rows
        if self._has_enough(0):
            return found
        if (after := scan.lanes.get(place[0])) is not None:
            self._go_on(scan, history, after, 1)
        self._go_beyond(scan, history, place[0], stop_us)
        return found

    def _has_enough(self, more: int) -> bool:
        """Whether no further rows will be asked for after so many more."""
        return self._enough is not None and self._asked + more >= self._enough

    def _find_scan(self, history: History, rows: int) -> _Scan:
        name = history.stream.name
        if name not in self._scans:
            again = len(self._scans) >= _OPEN
            self._scans[name] = _Scan(FEWEST, again, self._beside)
        scan = self._scans[name]
        scan.size = max(scan.size, min(2 * PORTION, rows))
        return scan

    def _go_beyond(self, scan: _Scan, history: History, asked: int, stop_us: int | None) -> None:
        """Decode the beginning of the piece after the one that is asked for."""
        for number in [n for n in scan.lanes if n < asked]:
            del scan.lanes[number]
        here, number = scan.lanes.get(asked), asked + 1
        open_here = here is not None and not here.ended
        if number >= len(history.pieces) or (open_here and not scan.beside):
            return
        piece = history.pieces[number]
        over = stop_us is not None and piece.low is not None and piece.low >= stop_us
        if over or piece.file.endswith(MAPPED):
            return
        lane = scan.lanes.setdefault(number, _Lane(number))
        held = sum(h.place[0] == number for h in scan.held)
        self._go_on(scan, history, lane, (_BESIDE if scan.beside else 1) - held)

    def _go_on(self, scan: _Scan, history: History, lane: _Lane, portions: int) -> None:
        """Begin to decode the next portions of a piece, if some are to be, and none are."""
        if portions > 0 and lane.coming is None and lane.error is None and not lane.ended:
            lane.coming = self._pool.submit(self._decode, scan, history, lane, portions)

    def _decode(self, scan: _Scan, history: History, lane: _Lane, portions: int) -> _Decoded:
        piece, first = history.pieces[lane.piece], lane.first
        found: list[ReadRows] = []
        try:
            if lane.rows is None:
                late = self._late.get(history.stream.name)
                lane.rows = self._groups.scan(
                    history, piece, scan.size, again=scan.again, late=late
                )
            while len(found) < portions:
                rows = next(lane.rows, None)
                if rows is None:
                    if first != piece.rows:
                        error = OSError(f"row group {piece.group} has {first} rows of {piece.rows}")
                        raise unreadable(piece.shown, error)
                    return _Decoded(found, ended=True, error=None)
                if rows.num_rows:
                    found.append(rows)
                    first += rows.num_rows
        except Exception as error:
            return _Decoded(found, ended=False, error=error)
        return _Decoded(found, ended=first == piece.rows, error=None)


def _lead(scan: _Scan, place: _Place) -> _Lane:
    """What decodes the portion with a place, which is not held: the piece's lane, or where that is
    beyond it, a new one from the piece's beginning."""
    number, row = place
    lane = scan.lanes.get(number)
    if lane is None or lane.first > row:
        scan.lanes = {n: kept for n, kept in scan.lanes.items() if n == number + 1}
        scan.held = [h for h in scan.held if h.place[0] < number or h.place[0] in scan.lanes]
        lane = scan.lanes[number] = _Lane(number)
    return lane


def _take(scan: _Scan, lane: _Lane) -> None:
    """Wait for what is being decoded of a piece."""
    assert lane.coming is not None, "rows beyond the end of a piece were asked for"
    coming, lane.coming = lane.coming, None
    decoded = coming.result()
    for rows in decoded.portions:
        insort(scan.held, _Held((lane.piece, lane.first), rows))
        lane.first += rows.num_rows
    lane.ended, lane.error = decoded.ended, decoded.error
    if lane.ended:
        lane.rows = None


def _behind(held: _Held) -> int:
    """The row of its piece that follows a portion."""
    return held.place[1] + held.rows.num_rows


def _find(scan: _Scan, place: _Place) -> ReadRows | None:
    """The rows from a place on of the portion that has it (None: none that is held)."""
    for held in scan.held:
        if held.place[0] == place[0] and held.place[1] <= place[1] < _behind(held):
            return held.rows.slice(place[1] - held.place[1])
    return None
