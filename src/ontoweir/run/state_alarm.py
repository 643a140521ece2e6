"""A warning where the state of a query that has no bound grows."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ontoweir.runtime.live.model.live_job import LiveJob, LiveState


class StateAlarm:
    """Warns when a query without a bound holds `rows` rows of state, and whenever that has
    doubled. Called after every micro-batch."""

    def __init__(self, rows: int, on_warning: Callable[[str], None]) -> None:
        self.rows, self.on_warning = rows, on_warning
        self.next: dict[str, int] = {}

    def __call__(self, state: "LiveState", job: "LiveJob") -> None:
        """Look at the state of every query."""
        for query, held in zip(job.queries, state.queries, strict=True):
            limit = self.next.get(query.name, self.rows)
            if query.bound is not None or held.rows < limit:
                continue
            while limit <= held.rows:
                limit *= 2
            self.next[query.name] = limit
            self.on_warning(
                f"{query.name} holds {held.rows:,} rows of state, and no bound of it is known; "
                "`ontoweir check` says what would bound it"
            )
