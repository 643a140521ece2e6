"""A progress bar of a replay, on stderr."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from ontoweir.progress.notebook import NotebookCell, html_bar, in_notebook
from ontoweir.progress.replay_progress import ReplayProgress

_OFTEN = 0.2
"""Seconds between two looks in a notebook."""


class NoBar:
    """Shows nothing, where stderr is no terminal."""

    def update(self, progress: ReplayProgress) -> None:
        """See ProgressListener."""

    def prepare(self, *, stream: str, tuples: int) -> None:
        """See PreparationListener."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is shown."""


class TerminalBar:
    """Shows tuples done of all, markers, tuples per second, and state rows against the bound, on
    stderr. Use it as a context manager."""

    def __init__(self, title: str, *, force: bool = False) -> None:
        # what the start of a replay that shows nothing need not wait for
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        self._console = Console(stderr=True, force_terminal=True if force else None)
        # the title stands on a line of its own, so that the figures fit 80 columns
        self._progress = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=12),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[figures]}"),
            TimeRemainingColumn(compact=True),
            console=self._console,
            transient=False,
        )
        self._console.print(title, markup=False, highlight=False)
        self._task = self._progress.add_task(title, total=None, figures="reading")

    def update(self, progress: ReplayProgress) -> None:
        """See ProgressListener."""
        speed = self._progress.tasks[0].speed if self._progress.tasks else None
        rate = "" if not speed else f" · {speed:,.0f} tuples/s"
        self._progress.update(
            self._task,
            completed=progress.tuples,
            total=progress.total_tuples,
            figures=_figures(progress, rate),
        )

    def prepare(self, *, stream: str, tuples: int) -> None:
        """See PreparationListener."""
        self._progress.update(self._task, figures=f"reading {stream}: {tuples:,} tuples")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()


class NotebookBar:
    """Shows the same below the cell of a notebook, some times a second. Use it as a context
    manager."""

    def __init__(self, title: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._title, self._clock = title, clock
        self._cell = NotebookCell()
        self._begun = clock()
        self._shown: float | None = None
        self._last = html_bar(title, 0, None, "starting")

    def update(self, progress: ReplayProgress) -> None:
        """See ProgressListener."""
        now = self._clock()
        rate = progress.tuples / (now - self._begun) if now > self._begun else 0.0
        figures = _figures(progress, f" · {rate:,.0f} tuples/s")
        self._last = html_bar(self._title, progress.tuples, progress.total_tuples, figures)
        if self._shown is None or now - self._shown >= _OFTEN:
            self._shown = now
            self._cell.show(self._last)

    def __enter__(self) -> Self:
        self._cell.show(self._last)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cell.show(self._last)


def _figures(progress: ReplayProgress, rate: str) -> str:
    """Markers, a rate as it is, and state rows against the bound."""
    limit = "" if progress.bound is None else f"/{progress.bound:,}"
    return f"{progress.markers:,} markers{rate} · state {progress.state_rows:,}{limit}"


def show_replay(title: str, *, force: bool = False) -> TerminalBar | NotebookBar | NoBar:
    """A listener for `replay_history`; a context manager. It shows nothing where stderr is not a
    terminal, unless forced."""
    if in_notebook() and not force:
        return NotebookBar(title)
    if not (force or (sys.stderr is not None and sys.stderr.isatty())):
        return NoBar()
    return TerminalBar(title, force=force)
