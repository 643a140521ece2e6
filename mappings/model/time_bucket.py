"""Buckets of application time: every hour, every five minutes from an offset, every month.

A bucket is [start, end). Fixed widths are counted from an origin in UTC; calendar units are those
of a time zone, so that a day there may have 23 hours.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from ontoweir.mappings.model.sliding_buckets import SlidingBuckets

CalendarUnit = Literal["day", "week", "month", "quarter", "year"]
"""A week begins on Monday."""

_SHORTEST_DAYS = {"day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}
_LONGEST_DAYS = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
DAY_US = 86_400_000_000
MONDAY_US = 946_857_600_000_000
"""3 January 2000, from which DuckDB and TimescaleDB count where no origin is given."""
_MOVED_US = 26 * 3_600_000_000
"""No zone's clock was ever moved by more, all in all: those of the Pacific changed the side of the
date line, which leaves out a day, or repeats one."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_US, LAST_US = -62_135_596_800_000_000, 253_402_300_800_000_000
"""The years 1 to 9999, in which all times lie."""


@dataclass(frozen=True, slots=True)
class FixedBuckets:
    """Buckets of `width_us` microseconds, one of which begins at `origin_us`."""

    width_us: int
    origin_us: int = 0

    @property
    def even(self) -> "FixedBuckets":
        """The same buckets, if all are equally long."""
        return self

    @property
    def longest_us(self) -> int:
        """The greatest width."""
        return self.width_us

    def count_within(self, span_us: int) -> int:
        """How many buckets an interval of a length meets, at most."""
        return -(-span_us // self.width_us) + 1

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
    def longest_us(self) -> int:
        """No bucket is longer."""
        return _LONGEST_DAYS[self.unit] * DAY_US + self._moved_us

    @property
    def _moved_us(self) -> int:
        return 0 if self.zone == "UTC" else _MOVED_US

    @property
    def even(self) -> FixedBuckets | None:
        """The same buckets, if all are equally long."""
        if self.zone != "UTC" or self.unit not in ("day", "week"):
            return None
        return FixedBuckets(_LONGEST_DAYS[self.unit] * DAY_US, self.start(0))

    def count_within(self, span_us: int) -> int:
        """How many buckets an interval of a length meets, at most."""
        return -(-(span_us + self._moved_us) // (_SHORTEST_DAYS[self.unit] * DAY_US)) + 1

    def start(self, time_us: int) -> int:
        """Where the bucket of a time begins (µs since 1970)."""
        first = self._find(time_us)
        return _FIRST_US if first is None else _begin_day(first, self.zone)

    def end(self, start_us: int) -> int:
        """Where the bucket ends that begins there."""
        first = self._find(start_us)
        return _begin_day(date.min, self.zone) if first is None else self._end_of(first)

    def _find(self, time_us: int) -> date | None:
        """The first day of the last bucket that begins up to a time; also where the clock was put
        back into the day before. None: it is not yet the year 1 there."""
        moment = _EPOCH + timedelta(microseconds=time_us)
        try:
            day = moment.astimezone(ZoneInfo(self.zone)).date()
        except OverflowError:
            if moment.year == 1:
                return None
            day = date.max
        first = self._first_day(day)
        while self._end_of(first) <= time_us:
            first = self._after(first)
        return first

    def _first_day(self, day: date) -> date:
        match self.unit:
            case "day":
                return day
            case "week":
                return day - timedelta(days=day.weekday())
            case "month":
                return day.replace(day=1)
            case "quarter":
                return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
            case "year":
                return day.replace(month=1, day=1)

    def _end_of(self, first: date) -> int:
        """Where the bucket ends whose first day it is; the last one with the year 9999."""
        try:
            after = self._after(first)
        except OverflowError:
            return LAST_US
        return _begin_day(after, self.zone)

    def _after(self, first: date) -> date:
        """The first day of the next bucket."""
        return self._first_day(first + timedelta(days=_LONGEST_DAYS[self.unit]))


@dataclass(frozen=True, slots=True)
class Moments:
    """Every moment by itself: the time of a row as a value; or `after_us` later."""

    after_us: int = 0

    @property
    def longest_us(self) -> int:
        """A moment has no length."""
        return 0

    def start(self, time_us: int) -> int:
        """The moment of a time (µs since 1970)."""
        return time_us + self.after_us

    def end(self, start_us: int) -> int:
        """Where the moment ends: it is over when nothing comes at it any more."""
        return start_us


@dataclass(frozen=True, slots=True)
class MonthsLater:
    """For every moment where the first bucket of UTC begins from which on so many `months` before,
    as SQL takes months away, is not before it: of 31 January, with days and one month, 1 March, as
    a month before 28 February is 28 January. (Months before a time of day are no such buckets: a
    month before 31 March, 1:00 is earlier than that before 30 March, 2:00.)"""

    months: int
    grid: CalendarBuckets

    @property
    def even(self) -> FixedBuckets | None:
        """Values are not evenly apart."""
        return None

    @property
    def longest_us(self) -> int:
        """No value is later than so long after its moment."""
        return (31 * self.months + 1) * DAY_US + self.grid.longest_us

    @property
    def shortest_us(self) -> int:
        """No value is earlier than so long after its moment."""
        return 28 * self.months * DAY_US

    def start(self, time_us: int) -> int:
        """The value of a time (µs since 1970); the last of all times, if it is not before that."""
        days = -(-time_us // DAY_US)
        if days * DAY_US >= LAST_US:
            return LAST_US
        day = _EPOCH.date() + timedelta(days=days)
        year, month = divmod(day.year * 12 + day.month - 1 + self.months, 12)
        if year > date.max.year:
            return LAST_US
        try:
            later = day.replace(year=year, month=month + 1)
        except ValueError:  # it has no such day: from the next month on
            later = (date(year, month + 1, 28) + timedelta(days=4)).replace(day=1)
        moment = (later - _EPOCH.date()).days * DAY_US
        return self.grid.end(self.grid.start(moment - 1))

    def end(self, start_us: int) -> int:
        """The value itself."""
        return start_us


Buckets = FixedBuckets | CalendarBuckets | Moments | MonthsLater

ALL_TIME = FixedBuckets(LAST_US - _FIRST_US, LAST_US)
"""One bucket, in which all times lie."""


@dataclass(frozen=True, slots=True)
class TimeBucket:
    """A column that says in which bucket a row's timestamp lies, or the time that is `behind_us`
    before it: where it begins, or `ends`. `sliding`: it is a pane of these (slide_panes)."""

    buckets: Buckets
    ends: bool = False
    sliding: SlidingBuckets | None = None
    behind_us: int = 0

    @property
    def longest_us(self) -> int:
        """From where a bucket begins to where the last ends that has it, no time is longer."""
        return self.buckets.longest_us if self.sliding is None else self.sliding.size_us

    @property
    def latest_us(self) -> int:
        """No value is later than so long after its timestamp."""
        match self.buckets:
            case Moments(after_us=after):
                return after - self.behind_us
            case FixedBuckets() | CalendarBuckets():
                return (self.longest_us if self.ends else 0) - self.behind_us
            case MonthsLater(longest_us=longest):
                return longest - self.behind_us

    @property
    def is_never(self) -> bool:
        """Whether it is the end of all time, where rows of a window without an end would leave."""
        return self.buckets == ALL_TIME and self.ends

    def of(self, time_us: int) -> int:
        """The column's value for a timestamp (both µs since 1970)."""
        start = self.buckets.start(time_us - self.behind_us)
        return self.buckets.end(start) if self.ends else start


def slide_panes(sliding: SlidingBuckets, *, ends: bool = False, behind_us: int = 0) -> TimeBucket:
    """The panes of buckets that overlap; `ends`: where these end, which stands for it until the
    buckets are made of panes."""
    width = sliding.pane_us
    return TimeBucket(FixedBuckets(width, sliding.origin_us % width), ends, sliding, behind_us)


@lru_cache(maxsize=1 << 12)
def _begin_day(day: date, zone: str) -> int:
    """The first moment at which a clock there shows a day, or a later one where the day is left
    out."""
    there = ZoneInfo(zone)
    try:
        first, second = (
            datetime(day.year, day.month, day.day, fold=fold, tzinfo=there).astimezone(UTC)
            for fold in (0, 1)
        )
    except OverflowError:
        return _FIRST_US
    if first < second:  # the clock is put back over midnight, which is there twice or once
        return _micros(first if first.astimezone(there).date() >= day else second)
    low, high = _micros(second) - 1, _micros(first)
    while high - low > 1:  # the clock is put forward over midnight
        middle = (low + high) // 2
        if (_EPOCH + timedelta(microseconds=middle)).astimezone(there).date() >= day:
            high = middle
        else:
            low = middle
    return high


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
