"""Row groups that are read as one: each costs a millisecond of its own."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import DecimalType, Stream, StringType
from ontoweir.runtime.sources.history import Piece

LEAST = 1_000_000
"""Histories of fewer rows are left as they are: ranges are cut between row groups."""
_PIECES = 8
"""So many pieces at least are left, for the same reason."""
_MOST = 524_288
"""Rows of a piece that is made of several row groups."""


def unite_groups(
    pieces: Sequence[Piece], stream: Stream, columns: Sequence[str], least: int = LEAST
) -> tuple[Piece, ...]:
    """The pieces, small ones that follow each other in a file and in time as one.

    Args:
        pieces: row groups of Parquet files, in order.
        stream: whose they are.
        columns: those that are read. Where some are texts or decimals, which may be read from the
            pages of a row group, nothing is changed.
        least: histories of fewer rows stay as they are.
    """
    rows = sum(p.rows for p in pieces)
    kinds = [column.type for n in columns if (column := stream.column(n)) is not None]
    apart = any(isinstance(kind, StringType | DecimalType) for kind in kinds)
    if rows < least or apart or len(kinds) < len(columns):
        return tuple(pieces)
    most, found = min(_MOST, rows // _PIECES), list(pieces[:1])
    for piece in pieces[1:]:
        last = found[-1]
        if last.rows + piece.rows <= most and _follows(piece, last):
            size = last.size + piece.size
            found[-1] = replace(
                last,
                rows=last.rows + piece.rows,
                groups=last.groups + piece.groups,
                high=piece.high,
                size=size,
            )
        else:
            found.append(piece)
    return tuple(found)


def _follows(piece: Piece, last: Piece) -> bool:
    """Whether a piece comes after another one in the same file, and in time."""
    if piece.file != last.file or piece.group != last.group + last.groups:
        return False
    if piece.first != last.first + last.rows:  # a row group between them has no rows
        return False
    if piece.low is None or last.high is None:
        return piece.low is last.high
    return piece.low >= last.high
