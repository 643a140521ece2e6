"""Buckets of application time."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.mappings.model.time_bucket import (
    Buckets,
    CalendarBuckets,
    CalendarUnit,
    FixedBuckets,
    TimeBucket,
)
from ontoweir.runtime.ingest.find_buckets import find_buckets

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS: tuple[CalendarUnit, ...] = ("day", "week", "month", "quarter", "year")
ZONES = (
    "UTC",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "America/Sao_Paulo",  # clocks go forward, or back, at midnight
    "America/Havana",
    "America/St_Johns",  # back over midnight, a minute after it
    "America/Toronto",  # forward over midnight, in 1919
    "Antarctica/Casey",  # days of 27 hours
    "Pacific/Apia",  # a day is left out
    "Pacific/Kwajalein",  # a day of 47 hours, in 1969
)
# and near what is odd in these zones
MOMENTS = ("2009-11-01", "1919-03-31", "2023-03-09", "2011-12-30", "1969-09-30", "2018-11-04")
NEAR = st.tuples(st.sampled_from(MOMENTS), st.integers(-3 * 10**11, 3 * 10**11))
TIMES = st.integers(-(10**15), 4 * 10**15) | NEAR.map(
    lambda near: us(datetime.fromisoformat(near[0]).replace(tzinfo=UTC)) + near[1]
)
BUCKETS = st.one_of(
    st.builds(FixedBuckets, st.integers(1, 10**12), st.integers(-(10**12), 10**12)),
    st.builds(CalendarBuckets, st.sampled_from(UNITS), st.sampled_from(ZONES)),
)


def us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


@given(BUCKETS, TIMES)
def test_every_time_lies_in_its_bucket(buckets: Buckets, time: int) -> None:
    start = buckets.start(time)
    end = buckets.end(start)
    assert start <= time < end
    assert buckets.start(start) == buckets.start(end - 1) == start
    assert buckets.start(end) == end
    assert end - start <= buckets.longest_us


@given(BUCKETS, TIMES, st.integers(0, 4 * 10**12))
def test_an_interval_meets_as_many_buckets_as_are_said(
    buckets: FixedBuckets | CalendarBuckets, time: int, span: int
) -> None:
    if isinstance(buckets, FixedBuckets):
        span %= 40 * buckets.width_us
    edge, met = buckets.end(buckets.start(time)), 1
    while edge < time + span:
        edge, met = buckets.end(edge), met + 1
    assert met <= buckets.count_within(span)


@given(st.sampled_from(ZONES), TIMES, st.lists(st.integers(0, 10**12), max_size=20))
def test_a_day_begins_when_a_clock_first_shows_it(zone: str, time: int, after: list[int]) -> None:
    start = CalendarBuckets("day", zone).start(time)
    end = CalendarBuckets("day", zone).end(start)

    def show(moment: int) -> date:
        return (EPOCH + timedelta(microseconds=moment)).astimezone(ZoneInfo(zone)).date()

    assert show(start - 1) < show(start)
    for moment in (time, *(start + a % (end - start) for a in after)):
        assert show(moment) <= show(start)  # a clock may have been put back into the day before
        assert show(end) > show(moment)


@given(BUCKETS, st.lists(TIMES, max_size=5), st.booleans())
def test_columns_are_as_single_values(buckets: Buckets, times: list[int], ends: bool) -> None:
    first = min(times, default=0)
    near = sorted(first + (t - first) % (400 * 86_400_000_000) for t in times)
    bucket = TimeBucket(buckets, ends)
    if isinstance(buckets, FixedBuckets) or near:
        made = find_buckets(bucket, np.array(near, dtype=np.int64))
        assert made.cast(pa.int64()).to_pylist() == [bucket.of(t) for t in near]


@pytest.mark.parametrize(
    ("unit", "time", "start", "hours"),
    [
        ("day", "2024-03-31T12:00", "2024-03-31", 23),
        ("day", "2024-10-27T12:00", "2024-10-27", 25),
        ("week", "2024-10-27T12:00", "2024-10-21", 7 * 24 + 1),
        ("month", "2024-02-29T23:59", "2024-02-01", 29 * 24),
        ("quarter", "2024-11-30T00:00", "2024-10-01", 92 * 24 + 1),
        ("year", "2024-11-30T00:00", "2024-01-01", 366 * 24),
    ],
)
def test_calendar_units_are_those_of_the_zone(
    unit: CalendarUnit, time: str, start: str, hours: int
) -> None:
    zone = ZoneInfo("Europe/Berlin")
    buckets = CalendarBuckets(unit, "Europe/Berlin")
    begins = buckets.start(us(datetime.fromisoformat(time).replace(tzinfo=zone)))
    assert begins == us(datetime.fromisoformat(start).replace(tzinfo=zone))
    assert buckets.end(begins) - begins == hours * 3_600_000_000


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_the_first_and_the_last_bucket_end_with_all_times(unit: CalendarUnit, zone: str) -> None:
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    buckets = CalendarBuckets(unit, zone)
    for time in (us(first), us(first) + 1, us(last) - 1, us(last)):
        start = buckets.start(time)
        assert us(first) <= start <= time < buckets.end(start) <= us(last) + 1
        column = find_buckets(TimeBucket(buckets), np.array([time])).cast(pa.int64())
        assert column.to_pylist() == [start]


@given(unit=st.sampled_from(UNITS), zone=st.sampled_from(ZONES), time=TIMES)
def test_days_and_weeks_of_utc_are_even(unit: CalendarUnit, zone: str, time: int) -> None:
    buckets = CalendarBuckets(unit, zone)
    even = buckets.even
    assert (even is not None) == (zone == "UTC" and unit in ("day", "week"))
    if even is not None:
        assert even.start(time) == buckets.start(time)
        assert even.end(even.start(time)) == buckets.end(buckets.start(time))
