"""The plots of replay_speed.py: ratios against their targets, and cost against history, as SVG."""

from collections.abc import Sequence
from math import ceil, floor, log10
from pathlib import Path
from typing import Protocol

TARGETS = {"numpy": 0.5, "duckdb": 1.5, "spark-sql": 8.0, "stream-join": 500.0}
"""The tool's seconds divided by ours that we want at least (issue 5)."""

_REACHED, _MISSED, _OTHER, _INK = "#3b7d4f", "#b5562b", "#8a8f98", "#222"
_LINES = (
    "#1b6ca8",
    "#6aa3cf",
    "#555",
    "#c7862b",
    "#5a9e6f",
    "#a84a4a",
    "#7b5ea7",
    "#b08a2e",
    "#999",
)


class Measured(Protocol):
    """What is drawn of an outcome."""

    query: str
    way: str
    tuples: int

    @property
    def best(self) -> float | None:
        """Seconds of the best run."""


def draw_speed(outcomes: Sequence[Measured], file: Path) -> None:
    """Write both plots, one above the other; nothing where nothing was measured."""
    bars, height = _draw_ratios(outcomes)
    lines, more = _draw_cost(outcomes, height)
    if not bars:
        return
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height + more}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
    )
    file.write_text("\n".join([head, *bars, *lines, "</svg>"]) + "\n")


def _draw_ratios(outcomes: Sequence[Measured]) -> tuple[list[str], int]:
    """Bars on a logarithmic scale around 1: to the right, ours is faster."""
    found: list[tuple[str, list[tuple[str, float]]]] = []
    for query, tuples in dict.fromkeys((o.query, o.tuples) for o in outcomes):
        mine = [o for o in outcomes if (o.query, o.tuples) == (query, tuples) and o.best]
        ours = next((o.best for o in mine if o.way == "ours"), None)
        ratios = [(o.way, o.best / ours) for o in mine if o.way != "ours" and ours and o.best]
        if ratios:
            found.append((f"{query}, {tuples:,} tuples, ours {ours:.2f} s", ratios))
    if not found:
        return [], 0
    every = [r for _, ratios in found for _, r in ratios] + [0.1, *TARGETS.values()]
    low, high = floor(log10(min(every))), ceil(log10(max(every)))

    def x(ratio: float) -> float:
        return 110 + (log10(ratio) - low) / (high - low) * 560

    parts = [
        _text(
            10,
            16,
            "Seconds of a tool ÷ ours (above 1, ours is faster); the black mark is the target",
            bold=True,
        )
    ]
    y = 34
    top = y
    for title, ratios in found:
        parts.append(_text(10, y + 11, title, bold=True))
        y += 17
        for way, ratio in ratios:
            target = TARGETS.get(way)
            colour = _OTHER if target is None else _REACHED if ratio >= target else _MISSED
            start, end = sorted((x(1), x(ratio)))
            parts.append(_text(104, y + 10, way, anchor="end"))
            parts.append(
                f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 1):.1f}" height="12" '
                f'fill="{colour}"/>'
            )
            if target is not None:
                parts.append(_line(x(target), y - 1, x(target), y + 13, width=2.5))
            right = max(end, x(1 if target is None else target))
            parts.append(_text(right + 5, y + 10, f"{ratio:.2f}"))
            y += 15
        y += 8
    for power in range(low, high + 1):
        parts.insert(1, _line(x(10**power), top, x(10**power), y, "#ddd" if power else "#888"))
        parts.append(_text(x(10**power), y + 12, f"{10.0**power:g}", anchor="middle"))
    return parts, y + 24


def _draw_cost(outcomes: Sequence[Measured], above: int) -> tuple[list[str], int]:
    """Seconds against tuples of one query, both logarithmic; a straight line is linear cost."""
    points: dict[str, list[tuple[int, float]]] = {}
    for o in outcomes:
        if o.query == "Q" and o.best:
            points.setdefault(o.way, []).append((o.tuples, o.best))
    if len({n for series in points.values() for n, _ in series}) < 2:
        return [], 0
    sizes = [n for series in points.values() for n, _ in series]
    times = [s for series in points.values() for _, s in series]
    left, right = log10(min(sizes)), log10(max(sizes))
    low, high = floor(log10(min(times))), ceil(log10(max(times)))
    top, bottom = above + 30, above + 270

    def x(tuples: int) -> float:
        return 70 + (log10(tuples) - left) / (right - left) * 480

    def y(seconds: float) -> float:
        return bottom - (log10(seconds) - low) / max(high - low, 1) * (bottom - top)

    parts = [_text(10, above + 16, "Q: seconds against tuples of history", bold=True)]
    for power in range(low, high + 1):
        parts.append(_line(70, y(10**power), 550, y(10**power), "#ddd"))
        parts.append(_text(64, y(10**power) + 4, f"{10.0**power:g} s", anchor="end"))
    for size in sorted(set(sizes)):
        parts.append(_line(x(size), top, x(size), bottom, "#ddd"))
        parts.append(_text(x(size), bottom + 14, f"{size:,}", anchor="middle"))
    labels: list[float] = []
    for colour, (way, series) in zip(_LINES * 2, points.items(), strict=False):
        series.sort()
        path = " ".join(f"{x(n):.1f},{y(s):.1f}" for n, s in series)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x(n):.1f}" cy="{y(s):.1f}" r="3" fill="{colour}"/>' for n, s in series
        ]
        at = y(series[-1][1]) + 4
        while any(abs(at - other) < 12 for other in labels):
            at += 12
        labels.append(at)
        parts.append(_text(x(series[-1][0]) + 8, at, f"{way} {series[-1][1]:.2f} s", colour=colour))
    return parts, 300


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", bold: bool = False, colour: str = _INK
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}"{weight}>{text}</text>'


def _line(
    x: float, y: float, to_x: float, to_y: float, colour: str = "#000", width: float = 1
) -> str:
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}" '
        f'stroke-width="{width}"/>'
    )
