"""Read a piece of a history whose rows come late: the timestamps of all its rows, in order, and the
other columns only of rows that can be wanted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.chunks.late_rows import LateRows, ReadRows
from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.sources.coded_texts import concat_rows
from ontoweir.runtime.sources.history import Disorder, Piece
from ontoweir.runtime.sources.read_ordered import decode_piece, find_late, find_order

FEW = 4
"""Rows that can be wanted are few where they are at most one in so many."""
_COUNTED = 1 << 16
"""Fewer steps than that are counted."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that are not in a piece yet, in order of time.

    `times`: of all of them; `wanted`: of those that can be wanted, equal ones as they came;
    `table`: their columns but the timestamp.
    """

    times: Array
    wanted: Array
    table: pa.Table

    def part(self, time: int) -> tuple["Waiting", "Waiting"]:
        """Those before a time, and the others."""
        all_before, before = (int(np.searchsorted(t, time)) for t in (self.times, self.wanted))
        return (
            Waiting(self.times[:all_before], self.wanted[:before], self.table.slice(0, before)),
            Waiting(self.times[all_before:], self.wanted[before:], self.table.slice(before)),
        )


@dataclass(frozen=True, slots=True)
class WantedRest:
    """The rows of later pieces in all row groups before number `group`, in the order in which the
    row groups came."""

    group: int
    parts: Sequence[Waiting]


def order_wanted(
    disorder: Disorder,
    group: int,
    stream: Stream,
    rest: WantedRest | None,
    load: Callable[[Piece], tuple[pa.Table, Array] | None],
) -> tuple[ReadRows, WantedRest] | None:
    """The rows of a piece, of whose columns only the timestamp is read of all, and the rest for the
    one after it. What read_ordered gives is the same but for rows that nobody can want. None: a
    row group that was not read for another piece has rows that may be rejected.

    Args:
        disorder: how the piece is made.
        group: its number.
        stream: whose rows they are.
        rest: that of the piece before it, if that was just read.
        load: reads a row group; also, by number, its rows that can be wanted (None: some of its
            rows may be rejected).
    """
    low, high = disorder.cuts[group], disorder.cuts[group + 1]
    first, parts = disorder.since[group], []
    if rest is not None and first <= rest.group <= group:
        parts += [part.part(low)[1] for part in rest.parts]
        first = rest.group
    for number in range(first, group + 1):
        piece = disorder.groups[number]
        loaded = load(piece)
        if loaded is None:
            return None
        table, index = loaded
        times, timed = decode_piece(table, stream, piece)
        if not timed.all():
            return None
        kept = times >= low
        if disorder.late[number]:
            late, _ = find_late(times, timed, disorder.reach[number], disorder.lateness_us)
            kept &= ~late
        if not kept.all():
            index = index[kept[index]]
        chosen = times[index]
        order = find_order(chosen, stream.grid_us)
        columns = table.drop_columns([stream.timestamp]).take(pa.array(index[order]))
        times = times if kept.all() else times[kept]
        parts.append(Waiting(sort_times(times, stream.grid_us), chosen[order], columns))
    parted = [part.part(high) for part in parts]
    now = _merge([before for before, _ in parted])
    later = [after for _, after in parted if len(after.times)]
    times = pa.array(now.times).view(pa.timestamp("us"))
    return (
        ReadRows(pa.table({stream.timestamp: times}), LateRows(_place(now), now.table)),
        WantedRest(group + 1, later),
    )


def sort_times(times: Array, grid_us: int) -> Array:
    """Timestamps in their order: those that lie within few steps are counted.

    Args:
        times: in any order (µs).
        grid_us: what they are, most often, multiples of.
    """
    if len(times) and grid_us > 1:
        low, high = int(times.min()), int(times.max())
        steps = (high - low) // grid_us
        if steps < min(_COUNTED, len(times)):
            numbers = (times - low) // grid_us
            if np.array_equal(numbers * grid_us + low, times):
                counts = np.bincount(numbers, minlength=steps + 1)
                ordered: Array = np.repeat(np.arange(steps + 1) * grid_us + low, counts)
                return ordered
    return np.sort(times)


def _merge(parts: Sequence[Waiting]) -> Waiting:
    """Rows of several row groups in order, equal times in the order of the parts."""
    held = [p for p in parts if len(p.times)] or [parts[0]]
    if len(held) == 1:
        return held[0]
    times = np.concatenate([p.times for p in held])
    wanted = np.concatenate([p.wanted for p in held])
    order = np.argsort(wanted, kind="stable")
    table = concat_rows([p.table for p in held]).take(pa.array(order))
    return Waiting(np.sort(times, kind="stable"), wanted[order], table)


def _place(rows: Waiting) -> Array:
    """For each row that can be wanted a place, ascending, among all rows, that has its time."""
    wanted = rows.wanted
    starts = np.flatnonzero(starts_of_runs(wanted))
    runs = np.diff(starts, append=len(wanted))
    firsts: Array = np.searchsorted(rows.times, wanted[starts])
    return np.repeat(firsts - starts, runs) + np.arange(len(wanted))
