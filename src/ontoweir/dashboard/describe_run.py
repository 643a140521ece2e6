"""How a query runs, as numbers for the API and as pictures for the pages."""

from dataclasses import asdict
from typing import Any

from ontoweir.dashboard.read_runs import Moment, Run
from ontoweir.draw.draw_chart import COLOURS, Chart, Series

_MAX_EVENTS = 20
_MAX_LINES = COLOURS - 2
"""Synopses that have a line of their own; the greatest."""


def describe_run(run: Run | None) -> dict[str, Any]:
    """The numbers of a query's newest moment; None for what is not known."""
    last = None if run is None else run.last
    description: dict[str, Any] = {
        "status": "not running" if run is None else run.status,
        "error": None if run is None else run.error,
        "shared": False if run is None else run.shared,
        "registered": None if run is None or run.entry is None else run.entry.get("registered"),
    }
    fields = ("batch", "state_rows", "bound_rows", "tuples_per_second", "tuples", "results")
    rest = ("rejected", "rejects", "finished", "lag_seconds", "time", "synopses")
    more = ("limits", "events", "on_disk")
    if last is None:
        return description | dict.fromkeys((*fields, *rest, *more))
    return description | {
        "batch": last.batch,
        "state_rows": last.rows,
        "bound_rows": last.bound,
        "tuples_per_second": last.tuples_per_second,
        "tuples": last.tuples,
        "results": last.results,
        "rejected": last.rejected,
        "rejects": dict(last.rejects),
        "finished": last.finished,
        "lag_seconds": last.lag,
        "time": last.at,
        "synopses": [
            {"synopsis": s.name, "rows": s.rows, "bound_rows": s.bound, "bound": s.formula}
            for s in last.synopses
        ],
        "limits": [asdict(limit) for limit in last.limits],
        "events": _list_events(run),
        "on_disk": last.on_disk,
    }


def _list_events(run: Run | None) -> list[dict[str, Any]]:
    """What has changed of late of how rows come, the newest first."""
    told = [{"time": m.at, "event": e} for m in (run.moments if run else ()) for e in m.events]
    return told[::-1][:_MAX_EVENTS]


def chart_state(name: str, moments: tuple[Moment, ...]) -> Chart:
    """The rows kept, by synopsis where there are several, against the bound."""
    series = [Series("rows kept", tuple((m.at, float(m.rows)) for m in moments), 0)]
    most: dict[str, int] = {}
    for moment in moments:
        for synopsis in moment.synopses:
            most[synopsis.name] = max(most.get(synopsis.name, 0), synopsis.rows)
    greatest = sorted(most, key=lambda n: -most[n])[:_MAX_LINES]
    if len(most) > 1:
        for number, part in enumerate(greatest, 2):
            points = tuple(
                (m.at, float(s.rows)) for m in moments for s in m.synopses if s.name == part
            )
            series.append(Series(part, points, number))
    bound = tuple((m.at, float(m.bound)) for m in moments if m.bound is not None)
    if bound:
        series.append(Series(f"bound: {int(bound[-1][1]):,} rows", bound, 1, dashed=True))
    top = max((m.rows for m in moments), default=0)
    limit = f" The bound is {int(bound[-1][1]):,} rows." if bound else ""
    return Chart(
        f"State of {name}",
        f"Rows kept after each micro-batch: at most {top:,} of those shown.{limit}",
        "time of day (UTC)",
        "rows kept",
        tuple(series),
        times=True,
    )


def chart_throughput(name: str, moments: tuple[Moment, ...]) -> Chart:
    """Tuples per second of each micro-batch."""
    points = tuple((m.at, m.tuples_per_second) for m in moments)
    top = max((y for _, y in points), default=0.0)
    return Chart(
        f"Throughput of {name}",
        f"Tuples per second of each micro-batch, at most {top:,.0f}.",
        "time of day (UTC)",
        "tuples/s",
        (Series("tuples per second of work", points, 0),),
        times=True,
        height=220.0,
    )
