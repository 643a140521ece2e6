"""Buckets of application time."""

from datetime import UTC, datetime, timedelta
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
# clocks go forward, or back, at midnight in the last two
ZONES = ("UTC", "Europe/Berlin", "Asia/Kathmandu", "America/Sao_Paulo", "America/Havana")
TIMES = st.integers(-(10**15), 4 * 10**15)
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
    assert buckets.shortest_us <= end - start <= buckets.longest_us


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
