"""Answers as points on a map: a grid of degrees, without anything from another host."""

import re
from dataclasses import dataclass
from html import escape
from math import ceil, cos, floor, log10, radians
from typing import TYPE_CHECKING, Any

from ontoweir.draw.chart_rows import list_numbers

if TYPE_CHECKING:
    import pyarrow as pa

_LATITUDE = {"lat", "latitude", "breitengrad"}
_LONGITUDE = {"lon", "lng", "long", "longitude", "längengrad"}
_POINT = re.compile(
    r"\s*(?:<[^>]*>)?\s*POINT\s*Z?\s*\(\s*(-?[0-9.]+)\s+(-?[0-9.]+)[^)]*\)\s*", re.IGNORECASE
)
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _EDGE = 640.0, 420.0, 92.0, 28.0, 14.0
_LEAST = 1e-3
"""Degrees that a map shows at least."""


@dataclass(frozen=True, slots=True)
class Place:
    """A point, in degrees, and what is there."""

    longitude: float
    latitude: float
    label: str


def find_places(rows: "pa.Table") -> list[Place]:
    """The places of answers: of columns called as a latitude and a longitude are, or of texts of
    GeoSPARQL's WKT, `POINT(10.2 56.1)`, whose longitude is first (none: there are no such).

    Args:
        rows: answers.
    """
    numbers = list_numbers(rows)
    latitude = next((n for n in numbers if _says(n, _LATITUDE)), None)
    longitude = next((n for n in numbers if _says(n, _LONGITUDE)), None)
    held = rows.to_pylist()
    if latitude is not None and longitude is not None:
        used = {latitude, longitude}
        pairs = [(row[longitude], row[latitude], row) for row in held]
    else:
        found = next((n for n in rows.column_names if _all_points(n, held)), None)
        if found is None:
            return []
        used = {found}
        pairs = [(*_read_point(row[found]), row) for row in held]
    return [
        Place(float(x), float(y), _label(row, used))
        for x, y, row in pairs
        if x is not None and y is not None and abs(x) <= 180 and abs(y) <= 90
    ]


def is_coordinate(column: str) -> bool:
    """Whether a column is called as a latitude or a longitude is."""
    return _says(column, _LATITUDE | _LONGITUDE)


def draw_map(places: list[Place], name: str) -> str:
    """The `<svg>` element of a map, north up; lengths east and north are alike in its middle.

    Args:
        places: at least one.
        name: of the query, for the title.
    """
    xs, ys = [p.longitude for p in places], [p.latitude for p in places]
    middle_x, middle_y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    narrow = max(cos(radians(middle_y)), 0.01)
    wide, high = _WIDTH - _LEFT - _EDGE, _HEIGHT - _BOTTOM - _EDGE
    span = max((max(xs) - min(xs)) * narrow / wide, (max(ys) - min(ys)) / high, _LEAST / high) * 1.1
    across, up = span * wide / narrow, span * high

    def place(longitude: float, latitude: float) -> tuple[float, float]:
        x = _LEFT + (longitude - middle_x + across / 2) / across * wide
        y = _EDGE + (middle_y + up / 2 - latitude) / up * high
        return x, y

    parts = []
    for degrees in _grid(middle_x, across):
        x, _ = place(degrees, middle_y)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_EDGE}" y2="{_EDGE + high:.1f}"/>')
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 8}">{_degrees(degrees, "E", "W")}</text>')
    for degrees in _grid(middle_y, up):
        _, y = place(middle_x, degrees)
        parts.append(f'<line y1="{y:.1f}" y2="{y:.1f}" x1="{_LEFT}" x2="{_LEFT + wide:.1f}"/>')
        said = _degrees(degrees, "N", "S")
        parts.append(f'<text class="side" x="{_LEFT - 6}" y="{y + 4:.1f}">{said}</text>')
    for spot in places:
        x, y = place(spot.longitude, spot.latitude)
        told = f"<title>{escape(spot.label)}</title>"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4">{told}</circle>')
    west, east = _degrees(min(xs), "E", "W"), _degrees(max(xs), "E", "W")
    south, north = _degrees(min(ys), "N", "S"), _degrees(max(ys), "N", "S")
    said = f"{len(places):,} places between {west} and {east}, {south} and {north}."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="map" role="img" width="{_WIDTH:.0f}" '
        f'height="{_HEIGHT:.0f}" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}">\n'
        f"<title>{escape(name)}: a map</title><desc>{escape(said)}</desc>\n"
        + "\n".join(parts)
        + "\n</svg>"
    )


def _says(column: str, words: set[str]) -> bool:
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).lower()
    return bool(words & {*re.split(r"[_\W]+", parts)})


def _all_points(name: str, rows: list[dict[str, Any]]) -> bool:
    there = [row[name] for row in rows if row[name] is not None]
    return bool(there) and all(isinstance(v, str) and _POINT.fullmatch(v) for v in there)


def _read_point(text: str | None) -> tuple[float | None, float | None]:
    found = None if text is None else _POINT.fullmatch(text)
    try:
        return (None, None) if found is None else (float(found[1]), float(found[2]))
    except ValueError:
        return None, None


def _label(row: dict[str, Any], used: set[str]) -> str:
    return ", ".join(f"{n} {v}" for n, v in row.items() if n not in used and v is not None)


def _grid(middle: float, span: float) -> list[float]:
    """About five round numbers of degrees within a span."""
    rough = span / 5
    power = 10.0 ** floor(log10(rough))
    step = power * next(n for n in (1, 2, 5, 10) if n * power >= rough * 0.999)
    first, last = ceil((middle - span / 2) / step), floor((middle + span / 2) / step)
    return [n * step for n in range(first, last + 1)]


def _degrees(value: float, positive: str, negative: str) -> str:
    return f"{abs(value):.4f}".rstrip("0").rstrip(".") + f"° {positive if value >= 0 else negative}"
