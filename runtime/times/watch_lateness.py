"""How late the rows of a stream come, and the lateness that a live run uses ([B] 4.3)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.times.sliding_max import SlidingMax

WINDOWS = 10
"""A window is so many times the declared lateness, where none is declared."""


@dataclass(frozen=True, slots=True)
class LatenessWatch:
    """`seen`: by how much rows came after later ones (µs); `used_us`: after how long none is waited
    for any more (None: as declared)."""

    seen: SlidingMax = field(default_factory=SlidingMax)
    used_us: int | None = None

    def describe(self) -> list[Any]:
        """As JSON has it."""
        seen = self.seen
        return [self.used_us, seen.now, seen.before, seen.begun_us, seen.halves, seen.ever]


def read_watch(held: Sequence[Any]) -> LatenessWatch:
    """What `describe` says.

    Raises:
        TypeError: it is something else.
    """
    used, *seen = held
    return LatenessWatch(SlidingMax(*seen), used)


NOT_WATCHED = LatenessWatch()


def lateness_in_use(stream: Stream, watch: LatenessWatch) -> int:
    """After how long a row of a stream is not waited for, in µs."""
    return stream.lateness_us if watch.used_us is None else watch.used_us


def watch_lateness(
    stream: Stream, watch: LatenessWatch, behind_us: int, reach_us: int
) -> LatenessWatch:
    """With the rows of a micro-batch.

    Where the run adapts, it uses what a window has shown and a fifth more, as it may rise (c = 1.2
    in [B]), at least the declared floor, at most the
    declared lateness: less as soon as a whole window has shown less, and more at once.

    Args:
        stream: the stream.
        watch: what was seen before.
        behind_us: by how much a row came after one with a later timestamp, at most.
        reach_us: the last timestamp of the stream.
    """
    window = stream.window_us or max(WINDOWS * stream.lateness_us, stream.grid_us)
    seen = watch.seen.see(behind_us, reach_us, window)
    if stream.floor_us is None:
        return LatenessWatch(seen)
    needed = -(-seen.most * 6 // (5 * stream.grid_us)) * stream.grid_us
    wanted = min(max(needed, stream.floor_us), stream.lateness_us)
    used = lateness_in_use(stream, watch)
    return LatenessWatch(seen, wanted if wanted > used or seen.full else used)
