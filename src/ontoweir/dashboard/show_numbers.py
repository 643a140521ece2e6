"""Numbers as people read them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any


def show_count(value: float | None) -> str:
    """1,234; an en dash for what is not known."""
    return "–" if value is None else f"{value:,.0f}"


def show_lag(seconds: float | None) -> str:
    """12 s, 5 min, 3 h, 40 days."""
    if seconds is None:
        return "–"
    if seconds < 0:
        return "0 s"
    for size, unit in ((172_800, 86_400), (7_200, 3_600), (120, 60)):
        if seconds >= size:
            return f"{seconds / unit:,.0f} {_UNITS[unit]}"
    return f"{seconds:,.1f} s"


_UNITS = {86_400: "days", 3_600: "h", 60: "min"}


def show_disk(held: Mapping[str, int]) -> str:
    """What is on disk of what rules drop (measure_spill)."""
    return (
        f"on disk: {held['rows']:,} rows that rules drop ({held['bytes'] / 1e6:,.1f} MB); "
        f"{held['found']:,} found again"
    )


def show_moment(seconds: float | None) -> str:
    """A time of day, UTC."""
    if seconds is None:
        return "–"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return "–"


def show_stamp(text: str | None) -> str:
    """An ISO time without its T, to the second."""
    return "–" if text is None else text[:19].replace("T", " ")


def share(rows: int | None, bound: int | None) -> float:
    """Rows as a part of their bound, in percent, for a bar."""
    if not rows or not bound:
        return 0.0
    return round(min(100.0, max(1.0, 100.0 * rows / bound)), 1)


def short(iri: str) -> str:
    """The part of an IRI behind the last # or /."""
    return iri.rstrip("#/").replace("#", "/").rsplit("/", 1)[-1] or iri


FILTERS: Mapping[str, Callable[..., Any]] = {
    "count": show_count,
    "lag": show_lag,
    "moment": show_moment,
    "stamp": show_stamp,
    "share": share,
    "short": short,
}
