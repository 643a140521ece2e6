"""The plots of update_patterns.py: time and space over the size of windows, as SVG."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path

_COLOURS = {"negative": "#b5562b", "direct": "#8a8f98", "patterns": "#3b7d4f", "ours": "#1b6ca8"}
_INK = "#222"
_LEFT, _WIDE, _HIGH, _GAP = 60, 200, 130, 60


@dataclass(frozen=True, slots=True)
class Point:
    """What one way took for a query and a window: CPU seconds per 1,000 tuples, and rows."""

    query: str
    way: str
    window: int
    seconds: float
    rows: int


def draw_windows(points: Sequence[Point], file: Path) -> None:
    """Write a picture: a column for each query; above seconds, below rows, all logarithmic."""
    queries = list(dict.fromkeys(p.query for p in points))
    width = _LEFT + len(queries) * (_WIDE + _GAP) + 20
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{2 * _HIGH + 150}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
    )
    parts = [head]
    measures: tuple[tuple[str, Callable[[Point], float]], ...] = (
        ("ms of CPU per 1,000 tuples", lambda p: 1_000 * p.seconds),
        ("rows kept, at most", lambda p: float(p.rows)),
    )
    for line, (title, value) in enumerate(measures):
        top = 40 + line * (_HIGH + 60)
        parts.append(_text(10, top - 22 if line else 14, title, bold=True))
        for column, query in enumerate(queries):
            mine = [p for p in points if p.query == query]
            parts += _draw_panel(mine, value, _LEFT + column * (_WIDE + _GAP), top, query)
    for place, (way, colour) in enumerate(_COLOURS.items()):
        left = _LEFT + 130 * place
        bottom = 2 * _HIGH + 130
        parts.append(f'<rect x="{left}" y="{bottom - 9}" width="18" height="4" fill="{colour}"/>')
        parts.append(_text(left + 24, bottom - 4, way))
    file.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _draw_panel(
    points: Sequence[Point], value: Callable[[Point], float], left: float, top: float, title: str
) -> list[str]:
    values, sizes = [value(p) for p in points], [p.window for p in points]
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    first, last = log10(min(sizes)), log10(max(sizes))

    def x(size: int) -> float:
        return left + (log10(size) - first) / max(last - first, 0.01) * _WIDE

    def y(number: float) -> float:
        return top + _HIGH - (log10(number) - low) / max(high - low, 1) * _HIGH

    parts = [_text(left, top - 6, title)]
    for power in range(low, high + 1):
        height = y(10.0**power)
        parts.append(
            f'<line x1="{left}" y1="{height:.1f}" x2="{left + _WIDE}" y2="{height:.1f}" '
            'stroke="#ddd"/>'
        )
        parts.append(_text(left - 5, height + 4, f"{10.0**power:g}", anchor="end"))
    for size in sorted(set(sizes)):
        parts.append(_text(x(size), top + _HIGH + 14, f"{size:,}", anchor="middle"))
    for way, colour in _COLOURS.items():
        series = sorted((p.window, value(p)) for p in points if p.way == way)
        path = " ".join(f"{x(n):.1f},{y(v):.1f}" for n, v in series)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x(n):.1f}" cy="{y(v):.1f}" r="2.5" fill="{colour}"/>' for n, v in series
        ]
    return parts


def _text(x: float, y: float, text: str, *, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{_INK}"{weight}>{text}</text>'
