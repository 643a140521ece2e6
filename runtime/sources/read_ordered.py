"""Read a piece of a history whose rows come late: the rows of several row groups, in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.decode_times import decode_times
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.coded_texts import concat_rows
from ontoweir.runtime.sources.history import Disorder, Piece
from ontoweir.runtime.times.align_times import align_times

_BLOCK = 64
"""Rows whose least and greatest timestamps are looked at together."""
_SAMPLE, _MIXED = 4096, 20
"""Rows that say how mixed rows come: so they are where one in so many is earlier than the last."""
_COUNTED = 1 << 16
"""Fewer steps than that are counted."""


@dataclass(frozen=True, slots=True)
class Rest:
    """The rows of later pieces in all row groups before number `group`, with their timestamps."""

    group: int
    times: Array
    table: pa.Table


def decode_piece(
    table: pa.Table, stream: Stream, piece: Piece, offset: int = 0, *, known: bool = False
) -> tuple[Array, Array]:
    """The timestamps of rows of a piece (µs), and which rows have one.

    Args:
        table: the rows, with the timestamp as it is held.
        stream: whose they are.
        piece: where they are from; `offset`: so many rows after its first.
        known: every row has one, as was seen before.

    Raises:
        DataError: they are of a type that holds no timestamps.
    """
    try:
        times, timed = decode_times(table.column(stream.timestamp), known=known)
    except ValueError as error:
        raise DataError(
            f"the timestamps of {stream.name} cannot be used: {error}",
            why=f"column {stream.timestamp} is declared as its timestamp",
            fix="name another column, or convert this one to timestamps in microseconds",
            source=Source(piece.shown, piece.first + offset),
        ) from error
    return align_times(times, stream), timed


def are_in_time(times: Array, reach: int, lateness_us: int) -> bool:
    """Whether no row comes later after a later timestamp than is declared: what find_late says, in
    a fraction of its time, as most blocks of rows need a look at their least and greatest only.

    Args:
        times: in the order in which the rows came; all have a timestamp.
        reach: the last timestamp before them.
        lateness_us: what is declared.
    """
    whole = len(times) // _BLOCK * _BLOCK
    blocks = times[:whole].reshape(-1, _BLOCK)
    reached = np.maximum.accumulate(np.concatenate([[reach], blocks.max(axis=1)]))
    doubtful = np.flatnonzero(reached[1:] - blocks.min(axis=1) > lateness_us)
    if len(doubtful):
        rows = blocks[doubtful]
        before = np.maximum.accumulate(rows, axis=1)
        np.maximum(before, reached[doubtful, np.newaxis], out=before)
        if int((before - rows).max()) > lateness_us:
            return False
    rest = times[whole:]
    behind = np.maximum(np.maximum.accumulate(rest), reached[-1]) - rest
    return int(behind.max(initial=0)) <= lateness_us


def find_late(times: Array, timed: Array, reach: int, lateness_us: int) -> tuple[Array, Array]:
    """Which rows come later after a later timestamp than is declared; and how much later than the
    last timestamp before it each row is (µs; 0: it is not).

    Args:
        times: in the order in which the rows came; `timed`: which have a timestamp.
        reach: the last timestamp before them.
        lateness_us: what is declared.
    """
    if not timed.all():
        times = np.where(timed, times, reach)
    if len(times) and times[0] >= reach and (times[1:] >= times[:-1]).all():
        return np.zeros(len(times), dtype=np.bool_), np.zeros(len(times), dtype=np.int64)
    behind = np.maximum.accumulate(times)
    behind[: np.searchsorted(behind, reach)] = reach
    behind -= times
    if not timed.all():
        behind[~timed] = 0
    if int(behind.max(initial=0)) <= lateness_us:
        return np.zeros(len(times), dtype=np.bool_), behind
    return behind > lateness_us, behind


def read_ordered(
    disorder: Disorder,
    group: int,
    stream: Stream,
    rest: Rest | None,
    load: Callable[[Piece], pa.Table],
) -> tuple[pa.Table, Rest]:
    """The rows of a piece, and the rest for the one after it.

    Args:
        disorder: how it is made.
        group: its number.
        stream: whose rows they are.
        rest: that of the piece before it, if that was just read.
        load: reads a row group.
    """
    low, high = disorder.cuts[group], disorder.cuts[group + 1]
    parts: list[_Sorted] = []
    first = disorder.since[group]
    if rest is not None and first <= rest.group <= group:
        # all are wanted, if no piece was left out
        told = stream.timestamp if _tells(rest.table, stream) else None
        parts.append(_sort(rest.times, rest.times >= low, rest.table, told, stream.grid_us))
        first = rest.group
    for number in range(first, group + 1):
        piece = disorder.groups[number]
        table = load(piece)
        times, timed = decode_piece(table, stream, piece)
        wanted = timed & (times >= low)
        if disorder.late[number]:
            late, _ = find_late(times, timed, disorder.reach[number], disorder.lateness_us)
            wanted &= ~late
        held = _tells(table, stream)
        if number == group and not timed.all():
            wanted |= ~timed
            times, held = np.where(timed, times, low - 1), False  # which they do not have
        told = stream.timestamp if held else None
        parts.append(_sort(times, wanted, table, told, stream.grid_us))
    *others, last = parts
    return _merge(others, last, (group, high))


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Places of rows of a table, in the order of their times, of equal ones in that of the rows.
    `told`: the column that holds nothing but the times."""

    times: Array
    places: Array
    table: pa.Table
    told: str | None

    def take(self, first: int, stop: int) -> tuple[Array, pa.Table]:
        """Some of the rows, in their order."""
        places = pa.array(self.places[first:stop])
        times, cells = self.times[first:stop], []
        for field, column in zip(self.table.schema, self.table.columns, strict=True):
            if field.name == self.told:
                cells.append(pa.chunked_array([pa.array(times).view(field.type)]))
            else:
                cells.append(pc.take(column, places, boundscheck=False))
        return times, pa.table(cells, schema=self.table.schema)


def find_order(times: Array, grid_us: int) -> Array:
    """The places of timestamps in their order, equal ones as they come.

    Runs that are in order already are merged; where rows come mixed, and lie within few steps, the
    rows of each step are counted instead, which takes a third of the time.

    Args:
        times: nearly in order (µs).
        grid_us: what they are, most often, multiples of.
    """
    some = times[:_SAMPLE]
    if grid_us > 1 and np.count_nonzero(some[1:] < some[:-1]) * _MIXED > _SAMPLE:
        low, high = int(times.min()), int(times.max())
        if (high - low) // grid_us < _COUNTED:
            steps = (times - low) // grid_us
            if np.array_equal(steps * grid_us + low, times):
                counted = pc.array_sort_indices(pa.array(steps.astype(np.uint16)))
                places: Array = counted.to_numpy().view(np.int64)
                return places
    return np.argsort(times, kind="stable")


def _sort(times: Array, wanted: Array, table: pa.Table, told: str | None, grid_us: int) -> _Sorted:
    """The rows that are wanted."""
    if wanted.all():
        order = find_order(times, grid_us)
        return _Sorted(times.take(order), order, table, told)
    places = np.flatnonzero(wanted)
    order = find_order(times[places], grid_us)
    return _Sorted(times[places[order]], places[order], table, told)


def _tells(table: pa.Table, stream: Stream) -> bool:
    """Whether the timestamps are, as they are held, the times that were decoded of them."""
    column = table.column(stream.timestamp)
    kind = column.type
    micros = pa.types.is_timestamp(kind) and kind.unit == "us" and not column.null_count
    return bool(micros and stream.align == "error")


def _merge(
    others: Sequence[_Sorted], last: _Sorted, piece: tuple[int, int]
) -> tuple[pa.Table, Rest]:
    """The rows of a piece, and the rest.

    Only those rows of the last row group are put between the rows of others that do not come after
    all of them: most of it is gathered once.

    Args:
        others: the rows of the row groups before the last, or of the rest.
        last: those of the last one.
        piece: its number; before which time its rows are.
    """
    group, high = piece
    end = int(np.searchsorted(last.times, high))
    now = [(o, int(np.searchsorted(o.times, high))) for o in others]
    reach = max((int(o.times[stop - 1]) for o, stop in now if stop), default=None)
    first = 0 if reach is None else int(np.searchsorted(last.times[:end], reach, side="right"))
    mixed = [o.take(0, stop) for o, stop in now if stop]
    rows = last.take(first, end)[1]
    if mixed:
        mixed.append(last.take(0, first))
        order = np.argsort(np.concatenate([t for t, _ in mixed]), kind="stable")
        joined = concat_rows([t for _, t in mixed]).take(pa.array(order))
        rows = concat_rows([joined, rows])
    later = [o.take(stop, len(o.times)) for o, stop in (*now, (last, end)) if stop < len(o.times)]
    if not later:
        later = [last.take(0, 0)]
    kept = concat_rows([t for _, t in later])
    return rows, Rest(group + 1, np.concatenate([t for t, _ in later]), kept)
