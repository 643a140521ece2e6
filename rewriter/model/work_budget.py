"""Counts the steps of work that may explode: reports how far it is, and stops at a limit."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ontoweir.errors import QueryError, Source
from ontoweir.progress.progress import OnProgress, Progress, ignore_progress
from ontoweir.rewriter.model.watch_time import tick

T = TypeVar("T")
_EVERY = 256


@dataclass(slots=True)
class WorkBudget:
    """Counts one kind of work for one query.

    Raises, at the step after `limit`:
        QueryError: at `source`; what exploded, how many there were, `why`, and what to do (`fix`).
    """

    what: str
    limit: int
    why: str
    fix: str
    source: Source | None = None
    on_progress: OnProgress = ignore_progress
    count: int = 0

    def step(self) -> None:
        """Count one."""
        self.count += 1
        tick()
        if self.count > self.limit:
            raise QueryError(
                f"the query has more than {self.limit:,} {self.what}",
                why=self.why,
                fix=self.fix,
                source=self.source,
            )
        if self.count % _EVERY == 0:
            self.on_progress(Progress(self.what, self.count, None))

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """The items, each counted."""
        for item in items:
            self.step()
            yield item
