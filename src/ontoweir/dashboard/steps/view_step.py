"""One time of a replay: what changed, and what holds then."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ontoweir.dashboard.steps.replay_steps import Change, Row, Steps
from ontoweir.draw.draw_chart import Chart, Series

SHOWN = 200
"""Rows of a table, at most."""


@dataclass(frozen=True, slots=True)
class StepView:
    """`number`: which of the times it is, from 0; `came`, `went`: how many answers; `changes`: of
    these the first; `holds`: the first answers that hold, with how often, and whether they have
    just come; `different`: how many different ones hold."""

    number: int
    at: str
    came: int
    went: int
    changes: tuple[Change, ...]
    holds: tuple[tuple[Row, int, bool], ...]
    different: int


def view_step(steps: Steps, number: int) -> StepView:
    """A time of a replay that has some, or the nearest that there is.

    Args:
        steps: the replay.
        number: which.
    """
    number = max(0, min(number, len(steps.steps) - 1))
    held: Counter[str] = Counter()
    rows: dict[str, Row] = {}
    for step in steps.steps[: number + 1]:
        for change in step.changes:
            key = repr(change.row)  # of lists and of what is equal, but no same text
            rows[key] = change.row
            held[key] += change.times if change.came else -change.times
            if not held[key]:
                del held[key], rows[key]
    last = steps.steps[number]
    new = {repr(change.row) for change in last.changes if change.came}
    shown = [*reversed(rows)][:SHOWN]  # the latest first
    return StepView(
        number,
        last.at,
        sum(c.times for c in last.changes if c.came),
        sum(c.times for c in last.changes if not c.came),
        last.changes[:SHOWN],
        tuple((rows[key], held[key], key in new) for key in shown),
        len(rows),
    )


def describe_steps(steps: Steps) -> dict[str, Any]:
    """The same as JSON has it."""
    told = [
        {
            "at": step.at,
            "changes": [
                {"op": "+" if c.came else "-", "row": list(c.row), "multiplicity": c.times}
                for c in step.changes
            ],
            "holding": step.holding,
        }
        for step in steps.steps
    ]
    return {
        "columns": list(steps.columns),
        "steps": told,
        "total": steps.total,
        "told": steps.told,
        "state_rows": steps.state_rows,
        "bound_rows": steps.bound_rows,
    }


def chart_steps(steps: Steps, number: int) -> Chart:
    """How many answers hold over time, and which time is shown."""
    points: list[tuple[float, float]] = []
    for step in steps.steps:
        at = _seconds(step.at)
        if points:
            points.append((at, points[-1][1]))
        points.append((at, float(step.holding)))
    here = steps.steps[number]
    marked = ((_seconds(here.at), float(here.holding)),)
    return Chart(
        "answers that hold",
        f"how many answers hold over time, and at {here.at}",
        "time",
        "answers",
        (Series("answers that hold", tuple(points), 0), Series("shown", marked, 1, dots=True)),
        times=True,
    )


def _seconds(at: str) -> float:
    moment = datetime.fromisoformat(at)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
