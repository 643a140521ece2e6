"""What clocks of a time zone show, as times in UTC.

By Python's zoneinfo: Arrow's time zones end with 2037.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from ontoweir.runtime.columnar.convert_column import FIRST_US, LAST_US
from ontoweir.runtime.columnar.frame import Array

_DAY_S = 86_400
_US = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def leave_zone(shown: Array, zone: str) -> tuple[Array, Array]:
    """Times in UTC, and which there are: of what clocks show twice the first, and no time where
    they are put forward.

    Args:
        shown: what clocks show, in µs since they showed 1970-01-01T00:00:00, of the years 1 to
            9999.
        zone: the name of an IANA time zone.
    """
    if not len(shown):
        return shown, np.zeros(0, np.bool_)
    begins, offsets = _list_offsets(np.unique(shown // (_DAY_S * _US)), ZoneInfo(zone))
    local = begins + offsets  # when clocks first show an offset's times
    place = np.maximum(np.searchsorted(local, shown, side="right") - 1, 0)
    before = np.maximum(place - 1, 0)
    first = (shown < begins[place] + offsets[before]) & (place > 0)
    chosen = np.where(first, before, place)
    times = shown - offsets[chosen]
    ends = np.append(begins[1:], np.iinfo(np.int64).max)
    return times, first | (times < ends[chosen])


def _list_offsets(days: Array, zone: ZoneInfo) -> tuple[Array, Array]:
    """When each offset from UTC begins (µs), and it (µs), around some days, in order."""
    least, most = FIRST_US // (_DAY_S * _US), LAST_US // (_DAY_S * _US)
    near = np.unique(np.concatenate([days + n for n in (-1, 0, 1, 2)]))
    begins, offsets = list[int](), list[int]()
    last: int | None = None
    for day in np.clip(near, least + 2, most - 2).tolist():
        second = day * _DAY_S
        offset = _offset(second, zone)
        if last is None or last < day - 1:
            begins.append(second)
            offsets.append(offset)
        elif offset != offsets[-1]:
            begins.append(_find_change(second - _DAY_S, second, zone))
            offsets.append(offset)
        last = day
    return np.array(begins) * _US, np.array(offsets) * _US


def _find_change(before: int, after: int, zone: ZoneInfo) -> int:
    """The first second with the offset of `after`; that of `before` is another one."""
    wanted = _offset(after, zone)
    while after - before > 1:
        middle = (before + after) // 2
        if _offset(middle, zone) == wanted:
            after = middle
        else:
            before = middle
    return after


def _offset(second: int, zone: ZoneInfo) -> int:
    """How many seconds clocks are ahead of UTC."""
    offset = (_EPOCH + timedelta(seconds=second)).astimezone(zone).utcoffset()
    assert offset is not None
    return offset // timedelta(seconds=1)
