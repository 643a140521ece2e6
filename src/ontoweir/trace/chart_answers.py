"""Answers as lines over time: a number of each, such as the average of an hour."""

import tempfile
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ontoweir.draw.draw_chart import COLOURS, Chart, Series
from ontoweir.errors import DataError, QueryError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.run.replay_query import ReplayOptions, replay_query

if TYPE_CHECKING:
    import pyarrow as pa

_HIDDEN = ("at", "until", "op", "multiplicity")


def chart_answers(
    workspace: Workspace,
    compiled: CompiledQuery,
    column: str | None = None,
    *,
    start: datetime | None = None,
    stop: datetime | None = None,
) -> Chart:
    """Replay a query over its history [start, stop), and chart a number of its answers over time.

    Time is the first column with times, such as the hour of a bucket, else `at`; there is a line
    for each group, or each combination of what is no number; those with the most answers are drawn.

    Args:
        workspace: the project.
        compiled: a bounded query.
        column: of numbers (None: the first one).
        start: the first time.
        stop: the first time that is left out.

    Raises:
        QueryError: it has no such column; or is not bounded.
        DataError: the data is missing or breaks its declarations; or there are no answers.
    """
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "answers.parquet")
        options = ReplayOptions(output, start=start, stop=stop, progress=False)
        replay_query(workspace, compiled, options)
        answers = pq.read_table(output)
    numbers = _list_numbers(answers)
    value = _find_value(numbers, column, compiled)
    times = [f.name for f in answers.schema if str(f.type).startswith("timestamp")]
    time = next((n for n in times if n not in _HIDDEN), "at")
    groups = compiled.union.aggregation
    apart = groups.group if groups is not None else set(answers.column_names) - set(numbers)
    others = [n for n in answers.column_names if n in apart and n not in (*_HIDDEN, *times)]
    lines: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in answers.to_pylist():
        if row[time] is not None and row[value] is not None and row.get("op") != "-":
            name = ", ".join(_name(row[n]) for n in others) or value
            lines[name].append((_seconds(row[time]), float(row[value])))
    if not lines:
        raise DataError(
            f"{compiled.name} has no answers with a {value}",
            why="a chart has points",
            fix="replay a longer history, or ask for another column with --column",
            source=compiled.union.source,
        )
    drawn = sorted(lines, key=lambda n: (-len(lines[n]), n))[:COLOURS]
    few = f"the {len(drawn)} with the most answers of {len(lines):,}"
    title = compiled.name if len(drawn) == len(lines) else f"{compiled.name}: {few}"
    return Chart(
        title,
        f"{value} of {answers.num_rows:,} answers over {time}; a line for each "
        f"{' and '.join(others) or 'query'}.",
        f"{time} (UTC)",
        value,
        tuple(
            Series(name, tuple(sorted(lines[name])), n, dots=len(lines[name]) <= 60)
            for n, name in enumerate(sorted(drawn))
        ),
        times=True,
    )


def _list_numbers(answers: "pa.Table") -> list[str]:
    """The columns of numbers."""
    import pyarrow.types as pt

    return [
        f.name
        for f in answers.schema
        if f.name not in _HIDDEN
        and (pt.is_integer(f.type) or pt.is_floating(f.type) or pt.is_decimal(f.type))
    ]


def _find_value(numbers: list[str], wanted: str | None, compiled: CompiledQuery) -> str:
    if wanted is None and numbers:
        return numbers[0]
    if wanted in numbers:
        return wanted
    raise QueryError(
        f"{compiled.name} has no column of numbers" + (f" called {wanted}" if wanted else ""),
        why="a chart shows a number over time",
        fix=f"--column {' or '.join(numbers)}" if numbers else "select a number, such as COUNT(*)",
        source=compiled.union.source,
    )


def _name(value: Any) -> str:
    """A value in a legend: of an IRI its last part."""
    text = str(value)
    if "://" not in text:
        return text
    return unquote(text.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1])


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
