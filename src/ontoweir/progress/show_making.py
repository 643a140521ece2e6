"""What `init --from` does, on stderr, where it takes longer than a moment."""

import sys
import time
from collections.abc import Callable
from shutil import get_terminal_size

from ontoweir.progress.progress import FINISHED, Progress

FIRST, EVERY = 1.0, 0.2
"""Seconds before the line is shown, and from one text of it to the next."""


class MakingLine:
    """Shows `measuring traffic: 1,200,000 rows` in one line, which is gone when all is done.

    Silent where stderr is no terminal, or where `quiet` is said.
    """

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        self.clock = clock
        self.begun = clock()
        self.shown = 0.0
        self.phase: str | None = None
        """What the line on the terminal says is done (None: there is no line)."""

    def __call__(self, progress: Progress) -> None:
        """Take how far it is; FINISHED clears the line."""
        if self.silent:
            return
        if progress == FINISHED:
            self._clear()
            return
        now = self.clock()
        if now - self.begun < FIRST or (progress.done and now - self.shown < EVERY):
            return
        self.shown, self.phase = now, progress.phase
        width = max(get_terminal_size().columns - 1, 1)
        sys.stderr.write(f"\r\x1b[K{describe_progress(progress)[:width]}")
        sys.stderr.flush()

    def _clear(self) -> None:
        if self.phase is not None:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self.phase = None


def describe_progress(progress: Progress) -> str:
    """How far it is, in words: rows where the total is not known.

    >>> describe_progress(Progress("measuring traffic", 1_200_000, None))
    'measuring traffic: 1,200,000 rows'
    >>> describe_progress(Progress("reading tables", 12, 300))
    'reading tables: 12 of 300'
    >>> describe_progress(Progress("looking for joins", 0, None))
    'looking for joins'
    """
    if progress.total is not None:
        return f"{progress.phase}: {progress.done:,} of {progress.total:,}"
    return f"{progress.phase}: {progress.done:,} rows" if progress.done else progress.phase
