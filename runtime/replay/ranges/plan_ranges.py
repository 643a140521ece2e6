"""Cut history at markers into ranges that Spark tasks replay side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.runtime.sources.history import Cursor, History


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of time, and where their streams begin.

    `cuts`: n - 1 points (µs) between n ranges; rows at or after a cut are in the range after it.
    `reason`: why there is only one range (None: there are more).
    """

    cuts: tuple[int, ...]
    reason: str | None

    def __len__(self) -> int:
        return len(self.cuts) + 1

    def start(self, index: int) -> int | None:
        """The first moment of a range (None: the beginning)."""
        return self.cuts[index - 1] if index else None

    def stop(self, index: int) -> int | None:
        """The first moment after a range (None: the end)."""
        return self.cuts[index] if index < len(self.cuts) else None


def plan_ranges(
    histories: Sequence[History],
    wanted: int,
    rows_per_range: int,
    span: tuple[int | None, int | None] = (None, None),
) -> Ranges:
    """Ranges of about as many rows each.

    Args:
        histories: the streams; the spans of time of their row groups say where to cut.
        wanted: how many ranges.
        rows_per_range: at least about so many rows in each.
        span: what is replayed, [start, stop) in µs; cuts lie inside.
    """
    if wanted < 2:
        return Ranges((), "Spark has one core")
    total = sum(h.rows for h in histories)
    wanted = min(wanted, total // max(rows_per_range, 1))
    if wanted < 2:
        return Ranges((), f"history has only {total:,} rows")
    for history in histories:
        name, last = history.stream.name, None
        for piece in history.pieces:
            if piece.low is None or piece.high is None:
                return Ranges(
                    (), f"row groups of {name} have no statistics of {history.stream.timestamp}"
                )
            if last is not None and piece.low < last:
                return Ranges((), f"row groups of {name} are not in the order of time")
            last = piece.high
    start, stop = span
    groups = sorted(
        (p.low, p.rows)
        for h in histories
        for p in h.pieces
        if p.low is not None
        and p.high is not None
        and (start is None or p.high >= start)
        and (stop is None or p.low < stop)
    )
    total = sum(rows for _, rows in groups)
    cuts: list[int] = []
    done, first = 0, max(groups[0][0], start or groups[0][0]) if groups else 0
    for low, rows in groups:
        if done >= (len(cuts) + 1) * total / wanted and low > (cuts[-1] if cuts else first):
            cuts.append(low)
            if len(cuts) == wanted - 1:
                break
        done += rows
    if not cuts:
        return Ranges((), "history has too few row groups to cut between them")
    return Ranges(tuple(cuts), None)


def find_start(history: History, start_us: int | None) -> Cursor:
    """Where to begin to read a stream to see all its rows from a moment on."""
    if start_us is None:
        return Cursor()
    for index, piece in enumerate(history.pieces):
        if piece.high is None or piece.high >= start_us:
            return Cursor(index)
    return Cursor(len(history.pieces))
