"""Buckets of application time: every hour, every five minutes from an offset, every month.

A bucket is [start, end). Fixed widths are counted from an origin in UTC; calendar units are those
of a time zone, so that a day there may have 23 hours.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

CalendarUnit = Literal["day", "week", "month", "quarter", "year"]
"""A week begins on Monday."""

_SHORTEST_US = {
    "day": 22 * 3_600_000_000,
    "week": 166 * 3_600_000_000,
    "month": 27 * 86_400_000_000,
    "quarter": 89 * 86_400_000_000,
    "year": 364 * 86_400_000_000,
}
"""No bucket is shorter, whatever a zone does to its clocks on a day."""
_LONGEST_US = {
    "day": 26 * 3_600_000_000,
    "week": 170 * 3_600_000_000,
    "month": 32 * 86_400_000_000,
    "quarter": 93 * 86_400_000_000,
    "year": 367 * 86_400_000_000,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FixedBuckets:
    """Buckets of `width_us` microseconds, one of which begins at `origin_us`."""

    width_us: int
    origin_us: int = 0

    @property
    def shortest_us(self) -> int:
        """The least width."""
        return self.width_us

    @property
    def longest_us(self) -> int:
        """The greatest width."""
        return self.width_us

    def start(self, time_us: int) -> int:
        """Where the bucket of a time begins (µs since 1970)."""
        return (time_us - self.origin_us) // self.width_us * self.width_us + self.origin_us

    def end(self, start_us: int) -> int:
        """Where the bucket ends that begins there."""
        return start_us + self.width_us


@dataclass(frozen=True, slots=True)
class CalendarBuckets:
    """Days, weeks, months, quarters or years of a time zone (an IANA name)."""

    unit: CalendarUnit
    zone: str = "UTC"

    @property
    def shortest_us(self) -> int:
        """No bucket is shorter."""
        return _SHORTEST_US[self.unit]

    @property
    def longest_us(self) -> int:
        """No bucket is longer."""
        return _LONGEST_US[self.unit]

    def start(self, time_us: int) -> int:
        """Where the bucket of a time begins (µs since 1970)."""
        there = (_EPOCH + timedelta(microseconds=time_us)).astimezone(ZoneInfo(self.zone))
        day = there.date()
        match self.unit:
            case "day":
                pass
            case "week":
                day -= timedelta(days=day.weekday())
            case "month":
                day = day.replace(day=1)
            case "quarter":
                day = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
            case "year":
                day = day.replace(month=1, day=1)
        return _midnight(day.year, day.month, day.day, self.zone)

    def end(self, start_us: int) -> int:
        """Where the bucket ends that begins there."""
        return self.start(start_us + self.longest_us)


Buckets = FixedBuckets | CalendarBuckets


@dataclass(frozen=True, slots=True)
class TimeBucket:
    """A column that says in which bucket a row's timestamp lies: where it begins, or `ends`."""

    buckets: Buckets
    ends: bool = False

    def of(self, time_us: int) -> int:
        """The column's value for a timestamp (both µs since 1970)."""
        start = self.buckets.start(time_us)
        return self.buckets.end(start) if self.ends else start


def _midnight(year: int, month: int, day: int, zone: str) -> int:
    """The first moment of a day there: where clocks go back at midnight, the later one."""
    local = datetime(year, month, day, tzinfo=ZoneInfo(zone))
    made = local.astimezone(UTC)
    if made.astimezone(ZoneInfo(zone)).date() < local.date():
        made = local.replace(fold=1).astimezone(UTC)
    return (made - _EPOCH) // timedelta(microseconds=1)
