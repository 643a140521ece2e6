"""What runs, for Prometheus: the newest moment of every query, and whether all is well."""

from collections.abc import Iterator, Mapping

from ontoweir.dashboard.read_runs import Moment, Run
from ontoweir.progress.prometheus_text import list_series

_BROKEN = ("failed", "died")


def show_metrics(runs: Mapping[str, Run]) -> str:
    """The text that Prometheus is given: of every query by name what it does, and the numbers of
    its last micro-batch."""
    return "".join(f"{line}\n" for line in _list_lines(runs))


def find_broken(runs: Mapping[str, Run]) -> list[str]:
    """The queries that should run, and do not."""
    return [name for name, run in runs.items() if run.status in _BROKEN]


def _list_lines(runs: Mapping[str, Run]) -> Iterator[str]:
    up = [({"query": n}, float(r.status == "running")) for n, r in runs.items()]
    yield from list_series("query_up", "gauge", "whether a query runs", up)
    states = [({"query": n, "state": r.status}, 1.0) for n, r in runs.items()]
    yield from list_series("query_state", "gauge", "what a query does", states)
    last = {name: run.last for name, run in runs.items() if run.last is not None}
    for name, kind, text in (
        ("state_rows", "gauge", "rows that a query keeps"),
        ("bound_rows", "gauge", "the bound on the rows that it keeps"),
        ("state_share", "gauge", "the share of its bound that it keeps"),
        ("state_bytes", "gauge", "bytes that a query keeps"),
        ("bound_bytes", "gauge", "the bound on these, without texts"),
        ("batch", "gauge", "its last micro-batch"),
        ("batch_seconds", "gauge", "the duration of that"),
        ("batch_time_seconds", "gauge", "when that ended, in seconds since 1970"),
        ("lag_seconds", "gauge", "how far its slowest stream is behind the clock"),
        ("behind_seconds", "gauge", "from its last finished timestamp to the newest that has come"),
        ("tuples_total", "counter", "tuples that it has read"),
        ("waiting_rows", "gauge", "those of these that wait for a marker"),
        ("results_total", "counter", "answers that it has given"),
        ("rejected_total", "counter", "tuples that were rejected"),
    ):
        values = [({"query": q}, _number(moment, name)) for q, moment in last.items()]
        known = [(labels, number) for labels, number in values if number is not None]
        yield from list_series(f"query_{name}", kind, text, known)
    stages = [
        ({"query": query, "stage": stage}, taken)
        for query, moment in last.items()
        for stage, taken in moment.stages.items()
    ]
    yield from list_series("query_stage_seconds", "gauge", "that duration, by stage", stages)
    reasons = [
        ({"query": query, "reason": reason}, float(count))
        for query, moment in last.items()
        for reason, count in sorted(moment.rejects.items())
    ]
    yield from list_series("query_rejects_total", "counter", "rejected tuples by reason", reasons)


def _number(moment: Moment, name: str) -> float | None:
    share = None if not moment.bound else moment.rows / moment.bound
    numbers: dict[str, float | None] = {
        "state_rows": moment.rows,
        "bound_rows": moment.bound,
        "state_share": share,
        "state_bytes": moment.bytes,
        "bound_bytes": moment.bound_bytes,
        "batch": moment.batch,
        "batch_seconds": moment.seconds,
        "batch_time_seconds": moment.at,
        "lag_seconds": moment.lag,
        "behind_seconds": moment.behind,
        "tuples_total": moment.tuples,
        "waiting_rows": moment.waiting,
        "results_total": moment.results,
        "rejected_total": moment.rejected,
    }
    return numbers[name]
