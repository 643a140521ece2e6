"""Find how rows that come late are put into the order of time, by one look at the timestamps."""

from collections.abc import Sequence
from contextlib import closing
from typing import TypeAlias

import numpy as np

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.chunks.read_chunk import BEGINNING
from ontoweir.runtime.chunks.row_groups import RowGroups
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.history import Disorder, HeldTimes, History, Piece
from ontoweir.runtime.sources.read_ordered import are_in_time, decode_piece, find_late
from ontoweir.runtime.times.late_rows import NOT_LATE, LateRows

END = 1 << 62
_IN_ORDER = "in order"
"""What pieces are called that are no part of a file."""

Ordered: TypeAlias = tuple[tuple[Piece, ...], Disorder | None, LateRows]
"""Pieces in the order of time, how they are made (None: they are row groups, all in order), and the
rows that come later than the stream declares."""


def find_disorder(
    stream: Stream, groups: Sequence[Piece], span: tuple[int | None, int | None], *, staged: bool
) -> Ordered:
    """How the rows of a history are put into the order of time.

    Args:
        stream: with a lateness.
        groups: its row groups, in the order in which they came.
        span: [start, stop) in µs: what is replayed; late rows are counted inside.
        staged: as History has it.

    Raises:
        DataError: a file cannot be read, or its timestamps are none.
    """
    search = _Search(stream, span)
    slim = History(stream, (), tuple(groups), staged)
    with closing(RowGroups()) as reader:
        for index, piece in enumerate(groups):
            if _lies_outside(piece, span):
                assert piece.high is not None
                search.pass_over(piece.high)
                continue
            ahead = sum(p.rows for p in groups[index : index + 3])
            table = reader.read(slim, index, ahead, None)
            search.see(piece, *decode_piece(table, stream, piece))
            if not staged:  # what is staged is mapped to memory, and need not be decoded
                search.times.hold(piece, table.column(stream.timestamp))
    return search.finish()


def make_piece(
    last: Piece, number: int, rows: tuple[int, int], span: tuple[int | None, int | None]
) -> Piece:
    """A piece that is made of the rows of several row groups.

    Args:
        last: the last of these; `number`: its number.
        rows: which of all rows in order is the first (from 1), and how many there are.
        span: the first and last timestamp (µs).
    """
    first, count = rows
    size = last.size * count // max(last.rows, 1)
    return Piece(_IN_ORDER, number, count, last.shown, first, {}, *span, size)


def _lies_outside(piece: Piece, span: tuple[int | None, int | None]) -> bool:
    if piece.low is None or piece.high is None:
        return False
    start, stop = span
    return (start is not None and piece.high < start) or (stop is not None and piece.low >= stop)


class _Search:
    """What was found up to a row group."""

    def __init__(self, stream: Stream, span: tuple[int | None, int | None]) -> None:
        self.lateness = stream.lateness_us
        self.start, self.stop = span
        self.reach = BEGINNING
        self.late = NOT_LATE
        self.in_order = True
        self.groups: list[Piece] = []
        self.reached: list[int] = []
        self.has_late: list[bool] = []
        self.cuts: list[int] = [BEGINNING]
        self.since: list[int] = []
        self.pieces: list[Piece] = []
        self.waiting: list[tuple[int, Array]] = []
        """Timestamps of pieces that are not made yet, by the row group that has them."""
        self.first = 1
        """Of all rows in order, the first that no piece has."""
        self.untimed = 0
        """Rows of the last row group without one."""
        self.times = HeldTimes()

    def pass_over(self, high: int) -> None:
        """A row group outside of what is replayed, with its last timestamp."""
        self.reach = max(self.reach, high)

    def see(self, piece: Piece, times: Array, timed: Array) -> None:
        """The next row group."""
        if self.groups:
            self._make_piece(max(self.cuts[-1], self.reach - self.lateness))
        all_timed, has_late, kept = bool(timed.all()), False, times
        if not all_timed or not self._go_forward(times):
            kept, has_late = self._see_disorder(times, timed, all_timed=all_timed)
        self.waiting.append((len(self.groups), kept))
        self.untimed = 0 if all_timed else int((~timed).sum())
        self.groups.append(piece)
        self.reached.append(self.reach)
        self.has_late.append(has_late)
        if timed.any():
            self.reach = max(self.reach, int((times if all_timed else times[timed]).max()))

    def _go_forward(self, times: Array) -> bool:
        """Whether rows, which all have a timestamp, come in the order of time."""
        return not len(times) or bool(times[0] >= self.reach and (times[1:] >= times[:-1]).all())

    def _see_disorder(self, times: Array, timed: Array, *, all_timed: bool) -> tuple[Array, bool]:
        """The timestamps of the rows of a row group that are not late; and whether some are."""
        if all_timed and are_in_time(times, self.reach, self.lateness):
            self.in_order = False
            return times, False
        late, behind = find_late(times, timed, self.reach, self.lateness)
        if late.any():
            self._count(times[late], behind[late])
        self.in_order = self.in_order and not behind.any()
        return times[timed & ~late], bool(late.any())

    def finish(self) -> Ordered:
        """What was found."""
        if self.in_order:
            return tuple(self.groups), None, self.late
        self._make_piece(END)
        disorder = Disorder(
            tuple(self.groups),
            tuple(self.reached),
            tuple(self.has_late),
            tuple(self.cuts),
            tuple(self.since),
            self.lateness,
            self.times,
        )
        return tuple(self.pieces), disorder, self.late

    def _make_piece(self, cut: int) -> None:
        """What waits before a time, and is of the last row group or one before it."""
        number, last = len(self.groups) - 1, self.groups[-1]
        parted = [(n, *_part(t, cut)) for n, t in self.waiting if len(t)]
        mine = [before for _, before, _ in parted if before[0]]
        self.since.append(min((n for n, _, _ in parted), default=number))
        self.cuts.append(cut)
        self.waiting = [(n, after) for n, _, after in parted if len(after)]
        rows = self.untimed + sum(count for count, _, _ in mine)
        if rows:
            low = min((low for _, low, _ in mine), default=None)
            high = max((high for _, _, high in mine), default=None)
            self.pieces.append(make_piece(last, number, (self.first, rows), (low, high)))
            self.first += rows

    def _count(self, times: Array, behind: Array) -> None:
        """Late rows, of those that are replayed."""
        if self.start is not None:
            behind, times = behind[times >= self.start], times[times >= self.start]
        if self.stop is not None:
            behind = behind[times < self.stop]
        self.late = self.late.add(behind)


def _part(times: Array, cut: int) -> tuple[tuple[int, int, int], Array]:
    """Of some times those before one: how many, the first and the last of them; and the others."""
    after = times >= cut
    others = np.flatnonzero(after)
    count, low = len(times) - len(others), int(times.min())
    if not count:
        return (0, cut, cut), times
    if not len(others):
        return (count, low, int(times.max())), times[:0]
    return (count, low, int(times.max(where=~after, initial=low))), times[others]
