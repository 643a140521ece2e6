"""In which bucket of time each row lies."""

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.time_bucket import (
    DAY_US,
    LAST_US,
    CalendarBuckets,
    FixedBuckets,
    Moments,
    MonthsLater,
    TimeBucket,
)
from ontoweir.runtime.columnar.frame import Array


def find_buckets(bucket: TimeBucket, times: Array) -> "pa.ChunkedArray":
    """A column of timestamps: where the bucket of each time begins, or ends.

    Args:
        bucket: the buckets.
        times: int64, µs since 1970, in order.
    """
    times = times - bucket.behind_us if bucket.behind_us else times
    match bucket.buckets:
        case MonthsLater(months=months, grid=grid):
            later = _add_months(times, months)
            return find_buckets(TimeBucket(grid, ends=True, behind_us=1), later)
        case FixedBuckets(width_us=width, origin_us=origin):
            made = (times - origin) // width * width + (origin + width * bucket.ends)
        case CalendarBuckets():
            edges = [bucket.buckets.start(int(times[0]))] if len(times) else [0]
            while len(times) and edges[-1] <= times[-1]:
                edges.append(bucket.buckets.end(edges[-1]))
            place = np.searchsorted(np.array(edges), times, side="right") - 1
            made = np.array(edges, dtype=np.int64)[place + bucket.ends]
        case Moments(after_us=after_us):
            made = times + after_us
    return pa.chunked_array([pa.array(made, pa.timestamp("us", "UTC"))])


def _add_months(times: Array, months: int) -> Array:
    """The days of `MonthsLater`, before its grid, of moments (both µs since 1970)."""
    days = -(-times // DAY_US)
    day = np.minimum(days, LAST_US // DAY_US - 1).astype("datetime64[D]")
    first = day.astype("datetime64[M]")
    later, after = (first + np.timedelta64(n, "M") for n in (months, months + 1))
    moved = later.astype("datetime64[D]") + (day - first.astype("datetime64[D]"))
    made = np.minimum(moved, after.astype("datetime64[D]")).astype(np.int64)
    return np.minimum(np.where(days * DAY_US < LAST_US, made * DAY_US, LAST_US), LAST_US)
