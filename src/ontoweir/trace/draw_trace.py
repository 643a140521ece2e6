"""Charts of a replay's state and throughput over application time."""

from collections.abc import Sequence

from ontoweir.draw.draw_chart import Chart, Series
from ontoweir.trace.trace_replay import Look, Trace

_MAX_POINTS = 400
"""Points of a line."""


def chart_trace_state(trace: Trace) -> Chart:
    """The rows kept, against the bound; of looks that stand close together the greatest."""
    looks = _thin(trace.looks)
    points = tuple((k.at.timestamp(), float(k.rows)) for k in looks)
    ends = (points[0][0], points[-1][0]) if points else ()
    most = max((k.rows for k in looks), default=0)
    return Chart(
        f"State of {trace.name}",
        f"Rows kept while the history passes: at most {most:,}. "
        f"The bound is {trace.bound:,} = {trace.formula}.",
        "time of the data (UTC)",
        "rows kept",
        (
            Series("rows kept", points, 0),
            Series(
                f"bound: {trace.bound:,} rows",
                tuple((x, float(trace.bound)) for x in ends),
                1,
                dashed=True,
            ),
        ),
        times=True,
    )


def chart_trace_throughput(trace: Trace) -> Chart:
    """Tuples per second of work, over the time of the data."""
    points = []
    before = 0
    groups = _groups(trace.looks)
    if len(groups) > 1:  # the last chunk is what is left
        groups[-2:] = [[*groups[-2], *groups[-1]]]
    for group in groups:
        seconds = sum(k.seconds for k in group)
        if seconds > 0:
            points.append((group[-1].at.timestamp(), (group[-1].tuples - before) / seconds))
        before = group[-1].tuples
    most = max((y for _, y in points), default=0.0)
    return Chart(
        f"Throughput of {trace.name}",
        f"Tuples that a replay in one process takes in per second, at most {most:,.0f}.",
        "time of the data (UTC)",
        "tuples/s",
        (Series("tuples per second", tuple(points), 0),),
        times=True,
        height=240.0,
    )


def _thin(looks: Sequence[Look]) -> list[Look]:
    return [max(group, key=lambda k: k.rows) for group in _groups(looks)]


def _groups(looks: Sequence[Look]) -> list[Sequence[Look]]:
    each = max(1, -(-len(looks) // _MAX_POINTS))
    return [looks[i : i + each] for i in range(0, len(looks), each)]
