"""Rows at some numbers, of rows that are held in pieces."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from ontoweir.runtime.pool.hash_slots import Codes


def take_pieces(
    pieces: "Sequence[pa.Table | pa.Array]",
    starts: Sequence[int],
    numbers: Codes,
    join: "Callable[[list[pa.Table | pa.Array]], pa.Table | pa.Array]",
) -> "pa.Table | pa.Array":
    """The rows at some numbers, in the order of these; each piece is looked at once.

    Args:
        pieces: of a table, or of a column; at least one.
        starts: the number of each piece's first row, ascending from 0.
        numbers: of rows that are there; they may repeat.
        join: rows of several pieces (none: no row is wanted) as one.
    """
    if len(pieces) == 1:
        return pieces[0].take(pa.array(numbers))
    piece = np.searchsorted(starts, numbers, side="right") - 1
    order = np.argsort(piece, kind="stable")
    cuts = np.searchsorted(piece[order], np.arange(len(pieces) + 1))
    parts = [
        mine.take(pa.array(numbers[order[first:last]] - start))
        for mine, start, first, last in zip(pieces, starts, cuts[:-1], cuts[1:], strict=True)
        if last > first
    ]
    back = np.empty(len(numbers), dtype=np.int64)
    back[order] = np.arange(len(numbers))
    return join(parts).take(pa.array(back))
