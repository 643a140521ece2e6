"""A progress bar of a replay, on stderr."""

import sys
from datetime import datetime
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)


class ReplayProgress:
    """Shows tuples done of all, markers, tuples per second, and state rows against the bound.

    Silent where stderr is no terminal, unless forced. Use it as a context manager.
    """

    def __init__(self, title: str, *, force: bool = False) -> None:
        self._console = Console(stderr=True, force_terminal=True if force else None)
        shown = force or (sys.stderr is not None and sys.stderr.isatty())
        # the title stands on a line of its own, so that the figures fit 80 columns
        self._progress = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=12),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[figures]}"),
            TimeRemainingColumn(compact=True),
            console=self._console,
            disable=not shown,
            transient=False,
        )
        if shown:
            self._console.print(title, markup=False, highlight=False)
        self._task = self._progress.add_task(title, total=None, figures="starting Spark")

    def update(
        self,
        *,
        markers: int,
        tuples: int,
        total_tuples: int | None,
        state_rows: int,
        bound: int | None,
        at: datetime,
    ) -> None:
        """See ProgressListener."""
        speed = self._progress.tasks[0].speed if self._progress.tasks else None
        limit = "" if bound is None else f"/{bound:,}"
        rate = "" if not speed else f" · {speed:,.0f} tuples/s"
        self._progress.update(
            self._task,
            completed=tuples,
            total=total_tuples,
            figures=f"{markers:,} markers{rate} · state {state_rows:,}{limit}",
        )

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


def show_progress(title: str, *, force: bool = False) -> ReplayProgress:
    """A listener for `replay_history`; a context manager."""
    return ReplayProgress(title, force=force)
