"""Put the files of a history into the order of the times inside, where their statistics say."""

from collections.abc import Sequence
from itertools import groupby, pairwise

from ontoweir.runtime.sources.history import Piece


def order_pieces(pieces: Sequence[Piece], lateness_us: int = 0) -> tuple[Piece, ...]:
    """The pieces, file by file, a file before those whose first timestamp is later.

    Files that are in the order of time already stay in the order of their names, as do those of
    which nothing is known. Within a file nothing moves.

    Args:
        pieces: in the order of the files' names.
        lateness_us: so long after a later timestamp a row may come. Files whose names are in an
            order that the lateness allows stay in it; so do those that no order makes allowed, as
            their names tell how they came.
    """
    files = [tuple(group) for _, group in groupby(pieces, key=lambda p: p.shown)]
    spans = [_span(file) for file in files]
    known = [s for s in spans if s is not None]
    if len(known) < len(spans) or _is_allowed(known, lateness_us):
        return tuple(pieces)
    ordered = sorted(range(len(files)), key=lambda i: known[i])
    if lateness_us and not _is_allowed([known[i] for i in ordered], lateness_us):
        return tuple(pieces)
    return tuple(piece for i in ordered for piece in files[i])


def _is_allowed(spans: Sequence[tuple[int, int]], lateness_us: int) -> bool:
    """Whether no file begins earlier than the lateness allows after those before it."""
    if not lateness_us:
        return all(a[1] <= b[0] for a, b in pairwise(spans))
    reach = None
    for low, high in spans:
        if reach is not None and low < reach - lateness_us:
            return False
        reach = high if reach is None else max(reach, high)
    return True


def _span(file: Sequence[Piece]) -> tuple[int, int] | None:
    lows = [p.low for p in file if p.low is not None]
    highs = [p.high for p in file if p.high is not None]
    return (min(lows), max(highs)) if len(lows) == len(highs) == len(file) else None
