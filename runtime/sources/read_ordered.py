"""Read a piece of a history whose rows come late: the rows of several row groups, in order."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.decode_times import decode_times
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.coded_texts import concat_rows
from ontoweir.runtime.sources.history import Disorder, Piece
from ontoweir.runtime.times.align_times import align_times


@dataclass(frozen=True, slots=True)
class Rest:
    """The rows of later pieces in all row groups before number `group`, with their timestamps."""

    group: int
    times: Array
    table: pa.Table


def decode_piece(
    table: pa.Table, stream: Stream, piece: Piece, offset: int = 0
) -> tuple[Array, Array]:
    """The timestamps of rows of a piece (µs), and which rows have one.

    Args:
        table: the rows, with the timestamp as it is held.
        stream: whose they are.
        piece: where they are from; `offset`: so many rows after its first.

    Raises:
        DataError: they are of a type that holds no timestamps.
    """
    try:
        times, timed = decode_times(table.column(stream.timestamp))
    except ValueError as error:
        raise DataError(
            f"the timestamps of {stream.name} cannot be used: {error}",
            why=f"column {stream.timestamp} is declared as its timestamp",
            fix="name another column, or convert this one to timestamps in microseconds",
            source=Source(piece.shown, piece.first + offset),
        ) from error
    return align_times(times, stream), timed


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
    seen = np.maximum.accumulate(times)
    np.maximum(seen, reach, out=seen)
    behind = seen - times
    if not timed.all():
        behind[~timed] = 0
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
    parts: list[tuple[Array, Array, pa.Table]] = []
    first = disorder.since[group]
    if rest is not None and first <= rest.group <= group:
        # all are wanted, if no piece was left out
        parts.append((rest.times, rest.times >= low, rest.table))
        first = rest.group
    for number in range(first, group + 1):
        piece = disorder.groups[number]
        table = load(piece)
        times, timed = decode_piece(table, stream, piece)
        wanted = timed & (times >= low)
        if disorder.late[number]:
            late, _ = find_late(times, timed, disorder.reach[number], disorder.lateness_us)
            wanted &= ~late
        if number == group and not timed.all():
            wanted |= ~timed
            times = np.where(timed, times, low - 1)
        parts.append((times, wanted, table))
    times = np.concatenate([t for t, _, _ in parts])
    wanted = np.concatenate([w for _, w, _ in parts])
    table = concat_rows([t for _, _, t in parts])
    later = np.flatnonzero(wanted & (times >= high))
    rest = Rest(group + 1, times[later], table.take(pa.array(later)))
    now = np.flatnonzero(wanted & (times < high))
    order = np.argsort(times[now], kind="stable")  # quick, as they are nearly in order
    return table.take(pa.array(now[order])), rest
