"""How far the rewriting of a query is, on stderr, where that takes longer than a moment."""

import sys
import time
from collections.abc import Callable

from ontoweir.progress.notebook import NotebookCell, html_bar, in_notebook
from ontoweir.progress.progress import Progress

EVERY = 2.0
"""Seconds from one line to the next, and before the first."""


class WorkLines:
    """Prints `48,128 combinations … so far` on a terminal, or in a notebook, once in EVERY seconds
    of work.

    Silent where stderr is neither, or where `quiet` is said. A pause of EVERY seconds between
    two calls ends the work.
    """

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.cell = NotebookCell() if in_notebook() else None
        dark = sys.stderr is None or not sys.stderr.isatty()
        self.silent = quiet or (dark and self.cell is None)
        self.clock = clock
        self.shown = self.last = clock()

    def __call__(self, progress: Progress) -> None:
        """Take how far it is."""
        if self.silent:
            return
        now = self.clock()
        if now - self.last > EVERY:
            self.shown = now
            self.cell = None if self.cell is None else NotebookCell()  # below the cell that runs
        self.last = now
        if now - self.shown < EVERY:
            return
        self.shown = now
        if self.cell is not None:
            self.cell.show(
                html_bar("rewriting", 0, None, f"{progress.done:,} {progress.phase} so far")
            )
            return
        from rich.console import Console

        console = Console(stderr=True, highlight=False, soft_wrap=True)
        console.print(
            f"rewriting: {progress.done:,} {progress.phase} so far", style="dim", markup=False
        )
