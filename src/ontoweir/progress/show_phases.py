"""Show how far the work on a query is: rewriting, deciding, looking for repairs."""

import time
from collections.abc import Callable

from ontoweir.progress.progress import Progress
from ontoweir.progress.show_decision import DecisionBar
from ontoweir.progress.show_rewriting import WorkLines


class QueryProgress:
    """Shows lines where the total is not known, else a bar; nothing where `quiet`, or where stderr
    is not shown (see the two)."""

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.lines = WorkLines(quiet=quiet, clock=clock)
        self.bar = DecisionBar(quiet=quiet, clock=clock)

    def __call__(self, progress: Progress) -> None:
        """Take how far it is."""
        if progress.total is None:
            self.lines(progress)
        else:
            self.bar(progress)
