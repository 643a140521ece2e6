"""Answers over time as a picture that a notebook shows."""

import base64
from typing import TYPE_CHECKING

from ontoweir.draw.chart_rows import chart_rows, list_numbers
from ontoweir.draw.draw_chart import draw_chart_file
from ontoweir.draw.draw_map import is_coordinate
from ontoweir.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa


class Picture(str):
    """The text of an SVG, which a notebook shows as a picture."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.encode()).decode()  # its style is then of it alone
        return f'<img alt="a chart" src="data:image/svg+xml;base64,{data}">'

    def __repr__(self) -> str:
        return f"<a picture, SVG of {len(self):,} characters>"


def plot_answers(rows: "pa.Table", name: str, value: str | None) -> Picture:
    """Chart a number of answers over time, with a line for each of the other columns' values.

    Args:
        rows: of the answers.
        name: of the query.
        value: the column of numbers (None: the first one that is no coordinate).

    Raises:
        UsageError: there is no such column, or no answer with a number and a time.
    """
    numbers = [n for n in list_numbers(rows) if not is_coordinate(n)] if value is None else [value]
    chart = None
    if numbers and numbers[0] in list_numbers(rows):
        chart = chart_rows(rows, name, numbers[0])
    if chart is None:
        known = ", ".join(list_numbers(rows)) or "none"
        raise UsageError(
            f"{name} has no answer with a time and a number" + (f", {value!r}" if value else ""),
            why=f"a plot is of numbers over time; columns of numbers are: {known}",
            fix="name one of these, or select one",
        )
    return Picture(draw_chart_file(chart))
