"""How far a live run is."""

from collections.abc import Mapping
from typing import Any

from ontoweir.runtime.live.model.live_job import LiveJob, LiveState


def describe_live(state: LiveState, job: LiveJob) -> Mapping[str, Any]:
    """A run's progress: totals, and every query's rows of state against its bound."""
    return {
        "batch": state.batch,
        **state.totals,
        "pending": sum(t.num_rows for t in state.pending.values()),
        "queries": {
            query.name: {"state_rows": held.rows, "bound_rows": query.bound}
            for query, held in zip(job.queries, state.queries, strict=True)
        },
    }
