"""Answers as lines over time: a number of each, such as the average of an hour."""

import tempfile
from datetime import datetime
from pathlib import Path

from ontoweir.draw.chart_rows import chart_rows, guess_number, list_numbers
from ontoweir.draw.draw_chart import Chart
from ontoweir.errors import DataError, QueryError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.run.replay_query import ReplayOptions, replay_query


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
        column: of numbers (None: the first one with fractions, else the first one).
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
    numbers = list_numbers(answers)
    value = _find_value(numbers, column or guess_number(answers, numbers), compiled)
    groups = compiled.union.aggregation
    chart = chart_rows(answers, compiled.name, value, None if groups is None else groups.group)
    if chart is None:
        raise DataError(
            f"{compiled.name} has no answers with a {value}",
            why="a chart has points",
            fix="replay a longer history, or ask for another column with --column",
            source=compiled.union.source,
        )
    return chart


def _find_value(numbers: list[str], wanted: str | None, compiled: CompiledQuery) -> str:
    if wanted is not None and wanted in numbers:
        return wanted
    raise QueryError(
        f"{compiled.name} has no column of numbers" + (f" called {wanted}" if wanted else ""),
        why="a chart shows a number over time",
        fix=f"--column {' or '.join(numbers)}" if numbers else "select a number, such as COUNT(*)",
        source=compiled.union.source,
    )
