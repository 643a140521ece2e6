"""Say when Spark's listing of folders, in which files stay that are read, takes too long."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ontoweir.mappings.model.catalog import Stream

LOOK = 60.0
"""Seconds between two looks."""
_SHARE = 0.2
"""Of the time, from which on something is said."""


@dataclass(slots=True)
class ListingWatch:
    """`since`, `listed`: when it was looked at last, and for how long had been listed then; `told`:
    the share that was said last."""

    since: float = field(default_factory=time.monotonic)
    listed: float = 0.0
    told: float = 0.0

    def look(
        self, now: float, listed: float, counts: Mapping[str, int], streams: Iterable[Stream]
    ) -> str | None:
        """What is to be said (None: nothing): again, when the share has become twice as much.

        Args:
            now: the clock (monotonic).
            listed: for how many seconds Spark has listed folders.
            counts: how many files are in the folders of streams, about.
            streams: those that are read.
        """
        if now - self.since < LOOK:
            return None
        share = (listed - self.listed) / (now - self.since)
        self.since, self.listed = now, listed
        kept = [(counts.get(s.name, 0), s.name) for s in streams if s.data.archive is None]
        if share < _SHARE or share < 2 * self.told or not kept:
            return None
        self.told = share
        count, name = max(kept)
        return (
            f"Spark lists folders for {share:.0%} of the time, of {name} some {count:,} files: "
            'answers come later by that; add archive = "archive/NAME" to its source, and files are '
            "moved there when all queries have read them, or move old ones away"
        )
