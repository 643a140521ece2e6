"""Count how late rows come: one look at the timestamps, in the order in which they came."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from ontoweir.runtime.chunks.read_chunk import BEGINNING
from ontoweir.runtime.chunks.row_groups import RowGroups
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.measure.measured import MeasuredLateness
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_ordered import decode_piece, find_late

MOST = 1 << 16
"""Of more different delays, such are counted together that lie close."""
_BITS = 8
"""So many leading bits of a delay are kept then."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """How the rows of a history came: their lateness, and of their timestamps (µs), the first and
    the last (None: there is none); and how many have none."""

    lateness: MeasuredLateness
    first_us: int | None
    last_us: int | None
    untimed: int


def count_lateness(history: History) -> Arrivals:
    """How the rows of a history came.

    Args:
        history: its pieces are in the order in which they came.

    Raises:
        DataError: a file cannot be read, or its timestamps are none.
    """
    slim = History(history.stream, (), history.pieces, history.staged)
    delays, counts, exact = np.zeros(1, np.int64), np.zeros(1, np.int64), True
    reach, first, untimed, greatest = BEGINNING, None, 0, 0
    with closing(RowGroups()) as reader:
        for index, piece in enumerate(history.pieces):
            table = reader.read(slim, index, 2 * piece.rows, None)
            times, timed = decode_piece(table, history.stream, piece)
            _, behind = find_late(times, timed, reach, 0)
            untimed += int((~timed).sum())
            times, behind = times[timed], behind[timed]
            if not len(times):
                continue
            reach = max(reach, int(times.max()))
            low = int(times.min())
            first = low if first is None else min(first, low)
            greatest = max(greatest, int(behind.max()))
            fresh, numbers = np.unique(behind if exact else _coarsen(behind), return_counts=True)
            delays, counts = _merge(delays, counts, fresh, numbers)
            if len(delays) > MOST and exact:
                exact = False
                delays, counts = _merge(_coarsen(delays), counts, delays[:0], counts[:0])
    delays[-1] = min(int(delays[-1]), greatest)
    lateness = MeasuredLateness(tuple(delays.tolist()), tuple(counts.tolist()), exact)
    return Arrivals(lateness, first, None if first is None else reach, untimed)


def _merge(delays: Array, counts: Array, more: Array, numbers: Array) -> tuple[Array, Array]:
    """Counts of delays, ascending, each once."""
    every, places = np.unique(np.concatenate([delays, more]), return_inverse=True)
    total = np.zeros(len(every), dtype=np.int64)
    np.add.at(total, places.reshape(-1), np.concatenate([counts, numbers]))
    return every, total


def _coarsen(delays: Array) -> Array:
    """Delays, rounded up to so many leading bits: less than 1 % more."""
    length = np.ceil(np.log2(delays.astype(np.float64) + 1)).astype(np.int64)
    shift = np.maximum(length - _BITS, 0)
    rounded: Array = ((delays + (np.int64(1) << shift) - 1) >> shift) << shift
    return rounded
