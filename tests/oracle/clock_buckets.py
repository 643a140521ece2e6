"""Buckets of time as a clock shows them, found by looking at it minute by minute."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Grouping:
    """Buckets of a stream's time as SQL writes them, and as they are."""

    alias: str
    text: str
    width: int = 0
    origin: int = 0
    unit: str = ""
    zone: str = "UTC"
    end: str = ""
    """The call of their end, if it has one."""
    slide: int = 0
    """Of buckets that overlap, or of those that grow: how far apart they are."""
    grows: bool = False
    table: str = ""
    """In FROM, where they are columns of a table of windows."""

    def find_all(self, time: int) -> list[tuple[int, int]]:
        """Where the buckets begin and end in which a time lies."""
        if not self.slide:
            return [self.find(time)]
        if self.grows:
            (start, _), step = self.find(time), self.slide
            ends = range(start + step, start + self.width + 1, step)
            return [(start, end) for end in ends if time < end]
        start = time // self.slide * self.slide + self.origin % self.slide + self.slide
        starts = []
        while start + self.width > time:
            if start <= time:
                starts.append(start)
            start -= self.slide
        return [(start, start + self.width) for start in starts]

    def find(self, time: int) -> tuple[int, int]:
        """Where the bucket of a time begins and ends."""
        if self.width:
            start = (time - self.origin) // self.width * self.width + self.origin
            return start, start + self.width
        local = (EPOCH + timedelta(microseconds=time)).astimezone(ZoneInfo(self.zone)).date()
        first = first_day(local, self.unit) - timedelta(days=1)  # clocks may have been put back
        start, end = begin_period(first, self.unit, self.zone)
        while end <= time:
            start, end = begin_period(
                end_period(first_day(first, self.unit), self.unit), self.unit, self.zone
            )
            first = end_period(first_day(first, self.unit), self.unit)
        assert start <= time < end
        return start, end


def first_day(day: date, unit: str) -> date:
    match unit:
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case _:
            return day.replace(month=1, day=1)


def end_period(first: date, unit: str) -> date:
    """The first day of the next period."""
    days = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}[unit]
    return first_day(first + timedelta(days=days), unit)


def begin_period(day: date, unit: str, zone: str) -> tuple[int, int]:
    """Where the period of a day begins and ends."""
    first = first_day(day, unit)
    return begin_day(first, zone), begin_day(end_period(first, unit), zone)


@cache
def begin_day(day: date, zone: str) -> int:
    """The first moment, in minutes, from which on a clock there shows a day, or a later one."""
    there = ZoneInfo(zone)
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=27)
    while moment.astimezone(there).date() < day:
        moment += timedelta(minutes=1)
    return (moment - EPOCH) // timedelta(microseconds=1)
