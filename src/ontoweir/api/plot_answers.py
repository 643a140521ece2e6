"""Answers over time as a picture that a notebook shows."""

import base64
from typing import TYPE_CHECKING

from ontoweir.draw.chart_rows import chart_rows, guess_number, list_numbers
from ontoweir.draw.draw_chart import Chart, draw_chart_file
from ontoweir.draw.draw_map import is_coordinate
from ontoweir.errors import UsageError

if TYPE_CHECKING:
    import altair
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
        value: the column of numbers (None: the first one with fractions that is no coordinate, else
            the first one).

    Raises:
        UsageError: there is no such column, or no answer with a number and a time.
    """
    return Picture(draw_chart_file(_chart(rows, name, value)))


def _chart(rows: "pa.Table", name: str, value: str | None) -> Chart:
    """A number of answers over time.

    Raises:
        UsageError: there is no such column, or no answer with a number and a time.
    """
    numbers = list_numbers(rows)
    found = value or guess_number(rows, [n for n in numbers if not is_coordinate(n)])
    chart = None if found not in numbers else chart_rows(rows, name, found)
    if chart is None:
        known = ", ".join(list_numbers(rows)) or "none"
        raise UsageError(
            f"{name} has no answer with a time and a number" + (f", {value!r}" if value else ""),
            why=f"a plot is of numbers over time; columns of numbers are: {known}",
            fix="name one of these, or select one",
        )
    return chart


def chart_altair(rows: "pa.Table", name: str, value: str | None) -> "altair.Chart":
    """The same lines as a chart of Altair's, which says the values under the pointer.

    Args:
        rows: of the answers.
        name: of the query.
        value: the column of numbers (None: the first one with fractions that is no coordinate, else
            the first one).

    Raises:
        UsageError: there is no such column, or no answer with a number and a time.
    """
    import altair

    chart = _chart(rows, name, value)
    points = [
        {"time": round(1000 * x), "value": y, "line": one.name}
        for one in chart.series
        for x, y in one.points
    ]
    # Vega-Lite takes whole numbers for milliseconds since 1970
    time = altair.X("time:T", title=chart.x_label, scale=altair.Scale(type="utc"))
    shown = [
        altair.Tooltip("line:N", title="answers about"),
        altair.Tooltip("time:T", title=chart.x_label, format="%Y-%m-%d %H:%M:%S"),
        altair.Tooltip("value:Q", title=chart.y_label),
    ]
    data = altair.Data(values=points)  # type: ignore[no-untyped-call]
    lines = altair.Chart(data, title=chart.title)
    made: altair.Chart = lines.mark_line(point=all(one.dots for one in chart.series)).encode(
        x=time,
        y=altair.Y("value:Q", title=chart.y_label),
        color=altair.Color("line:N", title=None),
        tooltip=shown,
    )
    return made
