"""Timestamps of a stream's row groups, by runs, that an earlier replay has read."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import NamedTuple

from ontoweir.runtime.times.time_runs import TimeRuns

MOST = 1 << 20
"""So many runs are known of a stream at most, of 16 bytes each: of more, those of no row group that
comes after them."""


class Place(NamedTuple):
    """So many row groups of a file that are read as one, from one on."""

    file: str
    group: int
    groups: int


class KnownTimes:
    """The timestamps of a stream, by place; to be used by several threads.

    Args:
        load: gives those that an earlier replay has read; it is asked when the first are wanted.
    """

    def __init__(self, load: Callable[[], Mapping[Place, TimeRuns]]) -> None:
        self._load, self._lock = load, Lock()
        self._known: dict[Place, TimeRuns] | None = None
        self._left = MOST
        self.new: dict[Place, TimeRuns] = {}
        """Those that this replay has read."""

    def __reduce__(self) -> tuple[type["KnownTimes"], tuple[object]]:
        """A copy for another process knows none."""
        return KnownTimes, (dict,)

    @property
    def known(self) -> Mapping[Place, TimeRuns]:
        """Those of earlier replays."""
        with self._lock:
            if self._known is None:
                self._known = dict(self._load())
                self._left -= sum(len(runs.marks) for runs in self._known.values())
            return self._known

    def find(self, place: Place, rows: int) -> TimeRuns | None:
        """The timestamps of a place of so many rows (None: they are not known)."""
        found = self.known.get(place)
        return found if found is not None and found.rows == rows else None

    def add(self, place: Place, runs: TimeRuns) -> None:
        """Those of a place that were read, if there is room for them."""
        with self._lock:
            if len(runs.marks) <= self._left:
                self._left -= len(runs.marks)
                self.new[place] = runs
