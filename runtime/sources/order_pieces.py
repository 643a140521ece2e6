"""Put the files of a history into the order of the times inside, where their statistics say."""

from collections.abc import Sequence
from itertools import groupby, pairwise

from ontoweir.runtime.sources.history import Piece


def order_pieces(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces, file by file, a file before those whose first timestamp is later.

    Files that are in the order of time already stay in the order of their names, as do those of
    which nothing is known. Within a file nothing moves.
    """
    files = [tuple(group) for _, group in groupby(pieces, key=lambda p: p.shown)]
    spans = [_span(file) for file in files]
    known = [s for s in spans if s is not None]
    if len(known) < len(spans) or all(a[1] <= b[0] for a, b in pairwise(known)):
        return tuple(pieces)
    ordered = sorted(range(len(files)), key=lambda i: known[i])
    return tuple(piece for i in ordered for piece in files[i])


def _span(file: Sequence[Piece]) -> tuple[int, int] | None:
    lows = [p.low for p in file if p.low is not None]
    highs = [p.high for p in file if p.high is not None]
    return (min(lows), max(highs)) if len(lows) == len(highs) == len(file) else None
