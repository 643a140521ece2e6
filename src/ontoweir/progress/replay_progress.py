"""How far a replay is, and who listens."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from ontoweir.progress.progress import OnProgress, Progress


@dataclass(frozen=True, slots=True)
class ReplayProgress:
    """How far a replay is; all numbers are totals so far.

    `markers`: distinct timestamps; `tuples`: rows read; `total_tuples`: rows there are to read, all
    passes together (None: not known); `state_rows`: rows of state now; `bound`: the most there can
    be (None: not known); `at`: the last finished timestamp (UTC).
    """

    markers: int
    tuples: int
    total_tuples: int | None
    state_rows: int
    bound: int | None
    at: datetime


class ProgressListener(Protocol):
    """Is called after chunks of a replay."""

    def update(self, progress: ReplayProgress) -> None:
        """Take how far it is."""


@runtime_checkable
class PreparationListener(Protocol):
    """A ProgressListener that is also called while a history is made ready to be read."""

    def prepare(self, *, stream: str, tuples: int) -> None:
        """So many tuples of a stream have been read."""


def count_prepared(listener: ProgressListener | None, stream: str) -> Callable[[int], None]:
    """What reports some more tuples of a stream to a listener, as their total."""
    total = 0

    def report(tuples: int) -> None:
        nonlocal total
        total += tuples
        if isinstance(listener, PreparationListener):
            listener.prepare(stream=stream, tuples=total)

    return report


class PreparedRows:
    """A PreparationListener that tells another kind of listener of the rows of each stream."""

    def __init__(self, phase: str, on_progress: OnProgress) -> None:
        self.phase, self.on_progress = phase, on_progress

    def update(self, progress: ReplayProgress) -> None:
        """See ProgressListener."""

    def prepare(self, *, stream: str, tuples: int) -> None:
        """See PreparationListener."""
        self.on_progress(Progress(f"{self.phase} {stream}", tuples, None))
