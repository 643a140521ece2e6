"""The zone that times without one show: by an hour that its clocks leave out, or have twice."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]

ZONES = (
    *("Europe/Berlin", "Europe/London", "Europe/Athens", "Atlantic/Azores"),
    *("America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"),
    *("America/Anchorage", "America/Halifax", "America/St_Johns", "America/Havana"),
    *("America/Santiago", "Australia/Sydney", "Australia/Adelaide", "Pacific/Auckland"),
    *("Asia/Jerusalem", "Asia/Beirut", "Africa/Cairo"),
)
"""One of each kind that puts clocks forward and back, the most people first."""
_AROUND = 12
"""So many hours on each side say how many rows an hour has."""
_DAY_S = 86_400
_US = 1_000_000


@dataclass(frozen=True, slots=True)
class ZoneSeen:
    """`zones`: those whose clocks show what was seen, one of each kind; `why`: what it was."""

    zones: tuple[str, ...]
    why: str


def find_zone(times: Times) -> ZoneSeen | None:
    """The zones that times seem to be of (None: nothing shows it): an hour that such a zone leaves
    out has no row, or one that it has twice has twice as many, though all hours around have about
    as many as each other; and nothing of the kind speaks against the zone.

    Args:
        times: what clocks showed, in µs since they showed 1970-01-01T00:00:00, in any order.
    """
    times = np.sort(times)
    found = {zone: seen for zone in ZONES if (seen := _judge(times, zone))}
    if not found:
        return None
    most = max(map(len, found.values()))
    best = [zone for zone, seen in found.items() if len(seen) == most]
    return ZoneSeen(tuple(best), found[best[0]][0])


def _judge(times: Times, zone: str) -> list[str]:
    """What speaks for a zone; nothing, if anything speaks against it."""
    said = []
    for start_s, end_s in _list_changes(times, ZoneInfo(zone)):
        doubled = end_s < start_s
        low, high = min(start_s, end_s), max(start_s, end_s)
        width = (high - low) * _US
        edges = low * _US + width * np.arange(-_AROUND, _AROUND + 2)
        counts = np.diff(np.searchsorted(times, edges))
        around = np.delete(counts, _AROUND)
        usual = float(np.median(around))
        most = 0.25 if doubled else 0.5  # what comes by chance is seldom as even
        if around.min() < max(1.0, (1 - most) * usual) or around.max() > (1 + most) * usual:
            continue
        ratio = counts[_AROUND] / usual
        if (ratio < 1.6 or ratio > 2.4) if doubled else ratio > 0:
            return []
        said.append(f"{_show(low)} to {_show(high)[-5:]} {_SAID[doubled]}")
    return said


_SAID = {False: "has no row, which its clocks leave out", True: "has two hours of rows"}


def _list_changes(times: Times, zone: ZoneInfo) -> Iterator[tuple[int, int]]:
    """What the clocks show before and after each change, in s, on days that there are times of."""
    days = np.unique(times // (_DAY_S * _US))
    for day in np.unique(np.concatenate([days, days - 1])).tolist():
        before, after = day * _DAY_S, (day + 1) * _DAY_S
        old, new = _offset(before, zone), _offset(after, zone)
        if old == new:
            continue
        while after - before > 1:
            middle = (before + after) // 2
            before, after = (middle, after) if _offset(middle, zone) == old else (before, middle)
        yield after + old, after + new


def _offset(second: int, zone: ZoneInfo) -> int:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    return offset // timedelta(seconds=1)


def _show(second: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    return f"{moment:%Y-%m-%d %H:%M}"
