"""How long the stages of live steps have taken."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

LIST = "list"
STAGES = (LIST, "read", "advance", "commit", "publish")
"""Spark's listing of folders, between steps; reading what has arrived; admitting rows and advancing
the queries; writing the commit to the disk; putting answers where they belong, with files that are
removed."""


class StageClock:
    """Seconds by stage, since it was made."""

    def __init__(self) -> None:
        self.seconds: Mapping[str, float] = dict.fromkeys(STAGES, 0.0)
        self._mutex = threading.Lock()
        self._before: float | None = None

    @contextmanager
    def time(self, stage: str) -> Iterator[None]:
        """Count what the block takes to a stage, also if it fails."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            taken = time.perf_counter() - begun
            with self._mutex:
                self.seconds = {**self.seconds, stage: self.seconds[stage] + taken}

    def note_listing(self, seconds: float) -> None:
        """Spark's listing has taken so long altogether, before the first call also for others."""
        with self._mutex:
            self._before = seconds if self._before is None else self._before
            self.seconds = {**self.seconds, LIST: seconds - self._before}


def show_stages(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """The seconds of each stage between two moments of a clock (`StageClock.seconds`)."""
    return {stage: round(now[stage] - before[stage], 6) for stage in STAGES}
