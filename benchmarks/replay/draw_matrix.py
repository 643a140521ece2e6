"""The heat map of replay_matrix.py: how much faster or slower than DuckDB each case is."""

from collections.abc import Sequence
from html import escape
from math import log2
from pathlib import Path
from typing import Any

_LEFT, _TOP, _WIDE, _HIGH = 170, 40, 62, 17
_MISSING = "#eee"


def draw_matrix(
    results: Sequence[dict[str, Any]],
    file: Path,
    other: str = "duckdb",
    by: str = "seconds",
    ours: str = "ours",
) -> None:
    """Write a picture: a row for each case, a column for each query; in a cell the other's seconds
    divided by ours, green where ours is faster. Nothing where nothing was measured.

    Args:
        results: the cells, as replay_matrix.py keeps them.
        file: the SVG to write.
        other: the way to compare with.
        ours: the way that is compared.
        by: `seconds`, or `cpu`, seconds of computing.
    """
    cases = list(dict.fromkeys(r["case"] for r in results))
    queries = list(dict.fromkeys(r["query"] for r in results))
    if not cases:
        return
    known = {(r["case"], r["query"]): r["ways"] for r in results}
    width, height = _LEFT + _WIDE * len(queries) + 10, _TOP + _HIGH * len(cases) + 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
    )
    what = "seconds" if by == "seconds" else "CPU seconds"
    lines = [
        head,
        _write(10, 14, f"{what} of {other}, divided by ours: above 1 ours is faster", "start"),
    ]
    for column, query in enumerate(queries):
        lines.append(_write(_LEFT + _WIDE * (column + 0.5), _TOP - 6, query))
    for row, case in enumerate(cases):
        top = _TOP + _HIGH * row
        form, shape, rows = case.split("-")
        lines.append(_write(_LEFT - 8, top + 12, f"{form} {shape} {int(rows):,}", "end"))
        for column, query in enumerate(queries):
            text, colour = _judge(known.get((case, query), {}), (ours, other), by)
            left = _LEFT + _WIDE * column
            lines.append(
                f'<rect x="{left}" y="{top}" width="{_WIDE - 1}" height="{_HIGH - 1}" '
                f'fill="{colour}"/>' + _write(left + _WIDE / 2, top + 12, text)
            )
    file.write_text("\n".join([*lines, "</svg>"]) + "\n")


def _judge(ways: dict[str, Any], compared: tuple[str, str], by: str) -> tuple[str, str]:
    """What stands in a cell, and its colour."""
    mine, theirs = (ways.get(way, {}) for way in compared)
    if by not in mine:
        return "–", _MISSING
    if by not in theirs:
        return f"{min(mine[by]):.2f} s", _MISSING
    ratio = min(theirs[by]) / min(mine[by])
    return f"{ratio:.2f}", _shade(ratio)


def _shade(ratio: float) -> str:
    """From red, an eighth, through white, equal, to green, eight times."""
    place = max(-1.0, min(1.0, log2(ratio) / 3))
    end = (59, 125, 79) if place > 0 else (181, 86, 43)
    mixed = (round(255 + (c - 255) * abs(place) * 0.8) for c in end)
    return "#" + "".join(f"{c:02x}" for c in mixed)


def _write(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
