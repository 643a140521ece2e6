"""How far the decision of a query is, where it takes longer than a moment.

A bar on a terminal or in a notebook, gone when the decision is over.
"""

import sys
import time
from collections.abc import Callable

from ontoweir.progress.notebook import NotebookCell, html_bar, in_notebook
from ontoweir.progress.progress import FINISHED, Progress

FIRST, EVERY = 1.0, 0.2
"""Seconds before the bar is shown, and from one picture of it to the next."""
_WIDTH = 30
_PAUSE = 1.0
"""Seconds without a call after which what comes next is another decision."""


class DecisionBar:
    """Shows `deciding ━━━━━╌╌╌╌ 12 of 48` while a decision goes on.

    Silent where stderr is neither a terminal nor below a notebook's cell, or where `quiet` is said.
    """

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.notebook = in_notebook()
        dark = sys.stderr is None or not sys.stderr.isatty()
        self.silent = quiet or (dark and not self.notebook)
        self.clock = clock
        self.begun: float | None = None
        self.last = self.shown = 0.0
        self.cell: NotebookCell | None = None
        self.line = False
        """Whether the bar is on the terminal now."""

    def __call__(self, progress: Progress) -> None:
        """Take how far it is."""
        if self.silent:
            return
        if progress == FINISHED:
            self._clear()
            return
        phase, done, total = progress.phase, progress.done, progress.total or 0
        now = self.clock()
        if self.begun is None or (now - self.last > _PAUSE and not self.line):
            self.begun = now
        self.last = now
        if now - self.begun < FIRST or now - self.shown < EVERY:
            return
        self.shown = now
        if self.notebook:
            self.cell = self.cell or NotebookCell()
            self.cell.show(html_bar(phase, done, total, f"{done:,} of {total:,}"))
            return
        full = _WIDTH * min(done, total) // max(total, 1)
        bar = "━" * full + "╌" * (_WIDTH - full)
        sys.stderr.write(f"\r\x1b[K{phase} {bar} {done:,} of {total:,}")
        sys.stderr.flush()
        self.line = True

    def _clear(self) -> None:
        if self.line:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        if self.cell is not None:
            self.cell.show("")
        self.begun, self.line, self.cell = None, False, None
