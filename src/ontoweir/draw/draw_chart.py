"""A line chart as SVG: a few series over numbers or times, light and dark, nothing from outside."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

STYLE = """
.chart { font: 12px system-ui, "DejaVu Sans", sans-serif; max-width: 100%; height: auto; }
.chart text { fill: #1c2530; } .chart .soft { fill: #5b6875; }
.chart .end { text-anchor: end; } .chart .middle { text-anchor: middle; }
.chart .grid { stroke: #d8dfe5; } .chart .axis { stroke: #5b6875; }
.chart path { fill: none; stroke-width: 2; stroke-linejoin: round; }
.chart circle { stroke: none; }
.chart path.s0 { stroke: #0b6b8a; } .chart circle.s0 { fill: #0b6b8a; }
.chart path.s1 { stroke: #b3261e; } .chart circle.s1 { fill: #b3261e; }
.chart path.s2 { stroke: #2e7d4f; } .chart circle.s2 { fill: #2e7d4f; }
.chart path.s3 { stroke: #8a5a00; } .chart circle.s3 { fill: #8a5a00; }
.chart path.s4 { stroke: #6b3fa0; } .chart circle.s4 { fill: #6b3fa0; }
.chart path.s5 { stroke: #5b6875; } .chart circle.s5 { fill: #5b6875; }
.chart path.dashed { stroke-dasharray: 7 5; }
@media (prefers-color-scheme: dark) {
  .chart text { fill: #dde5ec; } .chart .soft { fill: #97a6b3; }
  .chart .grid { stroke: #34414d; } .chart .axis { stroke: #97a6b3; }
  .chart path.s0 { stroke: #74c7e3; } .chart circle.s0 { fill: #74c7e3; }
  .chart path.s1 { stroke: #f2877e; } .chart circle.s1 { fill: #f2877e; }
  .chart path.s2 { stroke: #79c596; } .chart circle.s2 { fill: #79c596; }
  .chart path.s3 { stroke: #e3b35c; } .chart circle.s3 { fill: #e3b35c; }
  .chart path.s4 { stroke: #c3a1f0; } .chart circle.s4 { fill: #c3a1f0; }
  .chart path.s5 { stroke: #97a6b3; } .chart circle.s5 { fill: #97a6b3; }
}
"""
"""The style of charts, light and dark."""

COLOURS = 6
_LEFT, _RIGHT, _BOTTOM, _ROW, _CHARACTER = 74.0, 34.0, 46.0, 18.0, 7.0
_WIDE = 100.0
"""From this ratio of the greatest to the least positive value on, the scale is logarithmic."""
_TIMES = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)


@dataclass(frozen=True, slots=True)
class Series:
    """A named line: points (x, y) in the order of x. `colour`: 0..5; `dashed`: a limit, not what
    was measured; `dots`: every point shown."""

    name: str
    points: tuple[tuple[float, float], ...]
    colour: int = 0
    dashed: bool = False
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn: `description` describes it in words; if `times` is set, x is
    in seconds since 1970 (UTC)."""

    title: str
    description: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    times: bool = False
    width: float = 720.0
    height: float = 280.0


@dataclass(frozen=True, slots=True)
class _Scale:
    """From values to places; `ticks`: the values that are marked."""

    place: Callable[[float], float]
    ticks: tuple[float, ...]
    logarithmic: bool = False


def draw_chart(chart: Chart) -> str:
    """The `<svg>` element of a chart, for a page that has the style."""
    return _draw(chart, "")


def draw_chart_file(chart: Chart) -> str:
    """A chart as an SVG document with its style in it."""
    back = "svg { background: #ffffff } @media (prefers-color-scheme: dark) "
    return _draw(chart, f"<style>{STYLE}{back}{{ svg {{ background: #161d24 }} }}</style>") + "\n"


def _draw(chart: Chart, style: str) -> str:
    legend, rows = _legend(chart)
    top = _ROW * rows + 14
    right, bottom = chart.width - _RIGHT, chart.height - _BOTTOM
    centre, low = _n((_LEFT + right) / 2), _n(bottom)
    points = [p for s in chart.series for p in s.points]
    x = _scale_times if chart.times else _scale_numbers
    across = x([p[0] for p in points], _LEFT, right)
    up = _scale_values([p[1] for p in points], bottom, top)
    parts = [f"<title>{escape(chart.title)}</title><desc>{escape(chart.description)}</desc>{style}"]
    for value in up.ticks:
        y = _n(up.place(value))
        parts.append(f'<line class="grid" x1="{_n(_LEFT)}" x2="{_n(right)}" y1="{y}" y2="{y}"/>')
        parts.append(
            f'<text class="soft end" x="{_n(_LEFT - 8)}" y="{y}" dy="4">{_count(value)}</text>'
        )
    show = _show_times(across.ticks) if chart.times else _count
    for value in across.ticks:
        place = _n(across.place(value))
        parts.append(
            f'<line class="axis" x1="{place}" x2="{place}" y1="{low}" y2="{_n(bottom + 4)}"/>'
            f'<text class="soft middle" x="{place}" y="{_n(bottom + 18)}">{escape(show(value))}'
            "</text>"
        )
    parts.append(f'<line class="axis" x1="{_n(_LEFT)}" x2="{_n(right)}" y1="{low}" y2="{low}"/>')
    parts.append(
        f'<text class="middle" x="{centre}" y="{_n(chart.height - 8)}">'
        f"{escape(chart.x_label)}</text>"
    )
    label = chart.y_label + (" (logarithmic)" if up.logarithmic else "")
    middle = _n((top + bottom) / 2)
    parts.append(
        f'<text class="middle" transform="translate(14 {middle}) rotate(-90)">'
        f"{escape(label)}</text>"
    )
    if not points:
        parts.append(f'<text class="soft middle" x="{centre}" y="{middle}">nothing yet</text>')
    parts += [_line(s, across, up) for s in chart.series]
    parts += legend
    wide, high = _n(chart.width), _n(chart.height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="{wide}" '
        f'height="{high}" viewBox="0 0 {wide} {high}">\n' + "\n".join(parts) + "\n</svg>"
    )


def _line(series: Series, across: _Scale, up: _Scale) -> str:
    places = [(_n(across.place(x)), _n(up.place(y))) for x, y in series.points]
    colour = f"s{series.colour % COLOURS}"
    if not places:
        return ""
    path = "M " + " L ".join(f"{x} {y}" for x, y in places)
    svg = f'<path class="{colour}{" dashed" if series.dashed else ""}" d="{path}"/>'
    if series.dots or len(places) == 1:
        svg += "".join(f'<circle class="{colour}" cx="{x}" cy="{y}" r="3"/>' for x, y in places)
    return svg


def _legend(chart: Chart) -> tuple[list[str], int]:
    """The names of the lines, above the plot, in rows."""
    parts: list[str] = []
    x, row = _LEFT, 0
    for series in chart.series:
        longest = int((chart.width - _RIGHT - _LEFT - 40) / _CHARACTER)
        cut = len(series.name) > longest
        name = series.name[: longest - 1] + "…" if cut else series.name
        width = 32 + len(name) * _CHARACTER + 14
        if x > _LEFT and x + width > chart.width - _RIGHT:
            x, row = _LEFT, row + 1
        y = _ROW * row + 14
        colour = f"s{series.colour % COLOURS}{' dashed' if series.dashed else ''}"
        whole = f"<title>{escape(series.name)}</title>" if cut else ""
        parts.append(
            f'<path class="{colour}" d="M {_n(x)} {_n(y)} h 24"/>'
            f'<text x="{_n(x + 30)}" y="{_n(y + 4)}">{escape(name)}{whole}</text>'
        )
        x += width
    return parts, row + 1


def _scale_values(values: Sequence[float], low: float, high: float) -> _Scale:
    """From zero up; logarithmic where values lie far apart, so that a small state is seen below a
    great bound. Where there are values below zero, from the least up."""
    most = max(values, default=0.0)
    if min(values, default=0.0) < 0:
        ticks = _ticks(min(values), max(most, 0.0), 5)
        start, span = ticks[0], ticks[-1] - ticks[0]
        return _Scale(lambda v: low + (high - low) * (v - start) / span, ticks)
    least = min((v for v in values if v > 0), default=most)
    if most <= 0:
        return _Scale(lambda v: low, (0.0,))
    if most / least >= _WIDE:
        steps = math.ceil(math.log10(most + 1))
        each = max(1, math.ceil(steps / 6))
        ticks = (0.0, *(10.0**n for n in range(0, steps + 1, each)))
        end = math.log10(1 + max(most, ticks[-1]))
        return _Scale(lambda v: low + (high - low) * math.log10(1 + max(v, 0)) / end, ticks, True)
    ticks = _ticks(0.0, most, 5)
    end = max(most, ticks[-1])
    return _Scale(lambda v: low + (high - low) * max(v, 0) / end, ticks)


def _scale_numbers(values: Sequence[float], low: float, high: float) -> _Scale:
    first, last = min(values, default=0.0), max(values, default=1.0)
    span = (last - first) or 1.0
    ticks = tuple(t for t in _ticks(first, last, 8) if first <= t <= last)
    return _Scale(lambda v: low + (high - low) * (v - first) / span, ticks)


def _scale_times(values: Sequence[float], low: float, high: float) -> _Scale:
    first, last = min(values, default=0.0), max(values, default=1.0)
    span = (last - first) or 1.0
    step = next((s for s in _TIMES if span / s <= 6), None)
    if step is None:
        step = 86_400 * math.ceil(span / 86_400 / 6)
    start = math.ceil(first / step) * step
    ticks = [float(t) for t in range(start, int(last) + 1, step)] if values else []
    ticks = ticks or [first] * bool(values)  # of one moment, or few seconds
    return _Scale(lambda v: low + (high - low) * (v - first) / span, tuple(ticks))


def _ticks(first: float, last: float, most: int) -> tuple[float, ...]:
    """Round numbers from at most `first` to at least `last`."""
    raw = max(last - first, 1e-9) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= raw * (1 - 1e-9))
    if last >= 1 and step < 1:
        step = 1.0
    start = math.floor(first / step)
    count = math.ceil(last / step - 1e-9) - start
    return tuple((start + n) * step for n in range(max(count, 0) + 1))


def _show_times(ticks: Sequence[float]) -> Callable[[float], str]:
    days = all(t % 86_400 == 0 for t in ticks)
    seconds = any(t % 60 for t in ticks)
    several = bool(ticks) and ticks[-1] - ticks[0] >= 86_400
    form = "%Y-%m-%d" if days else "%H:%M:%S" if seconds else "%m-%d %H:%M" if several else "%H:%M"
    return lambda at: datetime.fromtimestamp(at, UTC).strftime(form)


def _count(value: float) -> str:
    """A number in few characters: 12, 4.5 k, 3 M."""
    for size, unit in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
