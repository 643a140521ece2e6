"""Warnings of a live run: the state of a query that has no bound grows; most rows of a stream are
rejected."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontoweir.runtime.live.model.live_job import LiveJob, LiveState


class StateAlarm:
    """Warns when a query without a bound holds `rows` rows of state, and whenever that has
    doubled; when a query with one passes a `share` of it, once until it keeps less than nine tenths
    of that; once for each reason for which half of a stream's rows are rejected; when rows go
    farther than a rule says; and when another lateness is used. Called after every micro-batch."""

    def __init__(self, rows: int, share: float | None, on_warning: Callable[[str], None]) -> None:
        self.rows, self.share, self.on_warning = rows, share, on_warning
        self.next: dict[str, int] = {}
        self.near: set[str] = set()
        self.told: set[str] = set()
        self.limits: list[Mapping[str, Any]] | None = None

    def __call__(self, state: "LiveState", job: "LiveJob") -> None:
        """Look at the state of every query, and at what was rejected."""
        self._tell_rejects(state, job)
        self._tell_limits(state, job)
        for query, held in zip(job.queries, state.queries, strict=True):
            if query.work.spill is not None:
                continue  # it fills what it may, and the rest is on disk
            if query.bound is not None:
                self._compare(query.name, held.rows, query.bound)
                continue
            limit = self.next.get(query.name, self.rows)
            if held.rows < limit:
                continue
            while limit <= held.rows:
                limit *= 2
            self.next[query.name] = limit
            self.on_warning(
                f"{query.name} holds {held.rows:,} rows of state, and no bound of it is known; "
                "`ontoweir check` says what would bound it"
            )

    def _compare(self, name: str, rows: int, bound: int) -> None:
        if self.share is None:
            return
        limit = self.share * bound
        if rows >= max(limit, 1) and name not in self.near:
            self.near.add(name)
            self.on_warning(
                f"{name} holds {rows:,} rows of state, {rows / max(bound, 1):.0%} of its bound of "
                f"{bound:,}; where the bound is passed, a declaration does not hold, and the run "
                "stops"
            )
        elif rows < 0.9 * limit:
            self.near.discard(name)

    def _tell_limits(self, state: "LiveState", job: "LiveJob") -> None:
        """What has changed of how rows come, and what is used of it."""
        from ontoweir.runtime.live.model.measure_limits import list_events, measure_limits

        limits = measure_limits(job, state)
        if self.limits is not None:
            for event in list_events(self.limits, limits):
                self.on_warning(event)
        self.limits = limits

    def _tell_rejects(self, state: "LiveState", job: "LiveJob") -> None:
        from ontoweir.runtime.verified.find_wrong import find_wrong

        streams = [(h.stream, state.arrived.get(h.stream.name, 0)) for h in job.histories]
        for wrong in find_wrong(streams, state.reasons):
            if wrong.reason not in self.told:
                self.told.add(wrong.reason)
                place = "" if wrong.stream.source is None else f"{wrong.stream.source}: "
                fix = (
                    "declare the format of its timestamp"
                    if wrong.is_time
                    else "correct what the catalog declares of it"
                )
                self.on_warning(
                    f"{place}{wrong}; a declaration is wrong, or the data: the run goes on; {fix}"
                )
