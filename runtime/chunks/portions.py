"""The rows of streams from a place on, portion by portion, the next one read ahead."""

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType

from ontoweir.runtime.chunks.late_rows import LateColumns, ReadRows
from ontoweir.runtime.chunks.row_groups import MAPPED, RowGroups
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.sources.read_source import unreadable

FEWEST, PORTION = 4_096, 524_288
"""Rows of a portion: every one costs a fraction of a millisecond, and the next is read ahead."""
_OPEN = 64
"""So many files of streams stay open; those of others are opened for each access."""

_Place = tuple[int, int]
"""A piece by its number, and a row of it."""


@dataclass(slots=True)
class _Scan:
    """How far a stream's row groups are decoded.

    `place`: where what is decoded next begins; `rows`: the rest of its piece (None: not begun);
    `coming`: what is being decoded; `held`: what was, and may be asked for.
    """

    size: int
    again: bool
    place: _Place = (0, 0)
    rows: Iterator[ReadRows] | None = None
    coming: "Future[tuple[_Place, ReadRows] | None] | None" = None
    held: deque[tuple[_Place, ReadRows]] = field(default_factory=deque)


class Portions:
    """Reads the streams of one task, each by itself from its beginning, or from where it was asked
    for, to its end. Pieces that are made of several row groups, or mapped to memory, are read
    whole. To be closed, which waits for what is being read.

    Args:
        late: by stream, the columns of row groups that may be read late.
    """

    def __init__(self, late: Mapping[str, LateColumns] = MappingProxyType({})) -> None:
        self._groups, self._late = RowGroups(late), late
        self._scans: dict[str, _Scan] = {}
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="ontoweir-portion")

    def close(self) -> None:
        """Read no more."""
        self._pool.shutdown(cancel_futures=True)
        for scan in self._scans.values():
            _end(scan)
        self._groups.close()

    def forget(self, history: History, cursor: Cursor) -> None:
        """Rows of a stream before a place will not be asked for again."""
        scan = self._scans.get(history.stream.name)
        while scan is not None and scan.held:
            (piece, first), table = scan.held[0]
            if (piece, first + table.num_rows) > (cursor.piece, cursor.offset):
                break
            scan.held.popleft()

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
            if scan.coming is None:
                if not _leads(history, scan.place, place):
                    _end(scan)
                    scan.held.clear()
                    scan.place = (cursor.piece, 0)
                self._go_on(scan, history, cursor.piece, stop_us)
            self._take(scan)
        if scan.coming is None:
            self._go_on(scan, history, cursor.piece, stop_us)
        return found.slice(0, rows)

    def _find_scan(self, history: History, rows: int) -> _Scan:
        name = history.stream.name
        if name not in self._scans:
            size = max(FEWEST, min(PORTION, rows))
            self._scans[name] = _Scan(size, again=len(self._scans) >= _OPEN)
        return self._scans[name]

    def _go_on(self, scan: _Scan, history: History, asked: int, stop_us: int | None) -> None:
        """Begin to decode the next portion."""
        scan.coming = self._pool.submit(self._decode, scan, history, asked, stop_us)

    @staticmethod
    def _take(scan: _Scan) -> None:
        """Wait for what is being decoded."""
        assert scan.coming is not None
        coming, scan.coming = scan.coming, None
        if (found := coming.result()) is not None:
            scan.held.append(found)

    def _decode(
        self, scan: _Scan, history: History, asked: int, stop_us: int | None
    ) -> tuple[_Place, ReadRows] | None:
        """The next portion (None: after the piece that was asked for there is none to read)."""
        while scan.place[0] < len(history.pieces):
            number, first = scan.place
            piece = history.pieces[number]
            over = stop_us is not None and piece.low is not None and piece.low >= stop_us
            if (over and number > asked) or piece.file.endswith(MAPPED):
                return None
            if scan.rows is None:
                late = self._late.get(history.stream.name)
                scan.rows = self._groups.scan(
                    history, piece, scan.size, again=scan.again, late=late
                )
            table = next(scan.rows, None)
            if table is None:
                if first != piece.rows:
                    error = OSError(f"row group {piece.group} has {first} rows of {piece.rows}")
                    raise unreadable(piece.shown, error)
                scan.place, scan.rows = (number + 1, 0), None
            elif table.num_rows:
                scan.place = (number, first + table.num_rows)
                return (number, first), table
        return None


def _find(scan: _Scan, place: _Place) -> ReadRows | None:
    """The rows from a place on of the portion that has it (None: none that is held)."""
    for (piece, first), table in scan.held:
        if piece == place[0] and first <= place[1] < first + table.num_rows:
            return table.slice(place[1] - first)
    return None


def _leads(history: History, reached: _Place, place: _Place) -> bool:
    """Whether who goes on from where a scan is comes to a place without a whole piece between."""
    if reached[0] == place[0]:
        return reached[1] <= place[1]
    return reached == (place[0] - 1, history.pieces[place[0] - 1].rows) and place[0] > 0


def _end(scan: _Scan) -> None:
    """Close what is open."""
    scan.rows = None
