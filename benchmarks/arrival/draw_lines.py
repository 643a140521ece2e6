"""Charts of lines in one SVG: several panels side by side, with numbers from 0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil
from pathlib import Path

_COLOURS = ("#1b6ca8", "#b5562b", "#3b7d4f", "#7a4fa3", "#8a8f98", "#c29b1c")
_LEFT, _WIDE, _HIGH, _ACROSS = 64, 280, 170, 3
_TICKS = 4

Line = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines by name, each of points in order; `across`, `up`: what the axes are."""

    title: str
    across: str
    up: str
    lines: Mapping[str, Line]


def draw_lines(panels: Sequence[Panel], file: Path) -> None:
    """Write the panels as a picture, three in a row."""
    rows = ceil(len(panels) / _ACROSS)
    width, height = _ACROSS * (_LEFT + _WIDE + 24) + 10, rows * (_HIGH + 150) + 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
    )
    parts = [head]
    for number, panel in enumerate(panels):
        left = _LEFT + number % _ACROSS * (_LEFT + _WIDE + 24)
        parts += _draw(panel, left, 40 + number // _ACROSS * (_HIGH + 150))
    file.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _draw(panel: Panel, left: int, top: int) -> list[str]:
    points = [p for line in panel.lines.values() for p in line]
    wide, high = _round(max(x for x, _ in points)), _round(max(y for _, y in points))
    parts = [_text(left, top - 20, panel.title, bold=True), _text(left, top - 6, panel.up)]
    for tick in range(_TICKS + 1):
        y = top + _HIGH - tick / _TICKS * _HIGH
        x = left + tick / _TICKS * _WIDE
        parts.append(
            f'<line x1="{left}" y1="{y:.1f}" x2="{left + _WIDE}" y2="{y:.1f}" stroke="#ddd"/>'
        )
        parts.append(_text(left - 5, y + 4, f"{high * tick / _TICKS:,.6g}", anchor="end"))
        shown = f"{wide * tick / _TICKS:,.6g}"
        parts.append(_text(x, top + _HIGH + 14, shown, anchor="middle"))
    parts.append(_text(left + _WIDE / 2, top + _HIGH + 28, panel.across, anchor="middle"))
    for number, (name, line) in enumerate(panel.lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(
            f"{left + x / wide * _WIDE:.1f},{top + _HIGH - y / high * _HIGH:.1f}" for x, y in line
        )
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = left + number % 2 * 150, top + _HIGH + 46 + number // 2 * 14
        parts.append(f'<rect x="{x}" y="{y - 7}" width="14" height="4" fill="{colour}"/>')
        parts.append(_text(x + 19, y, name))
    return parts


def _round(most: float) -> float:
    """A number that is not less, of one or two digits, which the ticks divide."""
    if most <= 0:
        return 1.0
    unit = 10.0 ** (len(str(int(most))) - 2) if most >= 10 else 0.1 if most < 1 else 1.0
    return ceil(most / unit / _TICKS) * _TICKS * unit


def _text(x: float, y: float, text: str, *, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="#222"{weight}>{escape(text)}</text>'
